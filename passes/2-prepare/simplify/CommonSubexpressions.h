//===- CommonSubexpressions.h - CSE that ignores names --------------------===//

#ifndef PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
#define PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H

#include "mlir/IR/Block.h"

namespace pcc::prepare {

/// Merges equal ops in `block` (common subexpression elimination). The later
/// one of two equal ops is erased, and the result of the earlier op replaces
/// the result of the erased op. Returns the number of erased ops.
///
/// Two ops are equal if they have the same op name, operands, properties and
/// result types. Their locations and discardable attributes may differ. An
/// example of a discardable attribute is `graph.name`. MLIR's CSE pass, in
/// contrast, does not merge ops with different discardable attributes.
///
/// The function does not erase terminators, ops with memory effects and pinned
/// ops. A pinned op has the attribute `graph.pinned`, which says that the user
/// fixes the sharding of the op.
int64_t eliminateCommonSubexpressions(mlir::Block &block);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
