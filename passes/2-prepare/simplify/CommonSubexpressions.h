//===- CommonSubexpressions.h - CSE that ignores names --------------------===//

#ifndef PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
#define PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H

#include "mlir/IR/Block.h"

namespace pcc::prepare {

/// Replaces each op without memory effects by an earlier op of `block` with
/// equal operands and properties, and erases it. Discardable attributes, such
/// as names, and locations may differ: the earlier op keeps its own. Pinned ops
/// are not erased. Returns the number of erased ops.
///
/// MLIR's CSE pass compares discardable attributes, so it would keep two equal
/// ops of different names.
int64_t eliminateCommonSubexpressions(mlir::Block &block);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
