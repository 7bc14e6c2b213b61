//===- CommonSubexpressions.h - CSE that ignores names --------------------===//

#ifndef PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
#define PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H

#include "mlir/IR/Block.h"

namespace pcc::prepare {

/// Common subexpression elimination: replaces each op of `block` without memory
/// effects by an earlier op with equal operands and properties, and erases it.
/// The two ops may differ in locations and in discardable attributes, such as
/// names; the earlier op keeps its own. Pinned ops, whose sharding the user
/// fixes, are kept. Returns the number of erased ops.
///
/// MLIR's CSE pass compares discardable attributes, so it would keep equal ops
/// of different names.
int64_t eliminateCommonSubexpressions(mlir::Block &block);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
