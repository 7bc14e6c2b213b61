//===- CommonSubexpressions.h - CSE that ignores names --------------------===//

#ifndef PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
#define PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H

#include "mlir/IR/Block.h"

namespace pcc::prepare {

/// Common subexpression elimination in `block`: replaces an op without memory
/// effects by an equal earlier op. Keeps pinned ops, whose sharding the user
/// fixes. Returns the number of erased ops.
///
/// Unlike MLIR's CSE pass, it ignores locations and discardable attributes,
/// such as names.
int64_t eliminateCommonSubexpressions(mlir::Block &block);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
