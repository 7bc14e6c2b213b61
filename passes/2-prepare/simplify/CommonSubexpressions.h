//===- CommonSubexpressions.h - CSE that ignores names --------------------===//

#ifndef PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
#define PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H

#include "mlir/IR/Block.h"

namespace pcc::prepare {

/// Merges equal ops in `block` (common subexpression elimination), and returns
/// the number of erased ops. Unlike MLIR's CSE pass, ignores discardable
/// attributes, such as `graph.name`. Does not erase terminators, ops with
/// memory effects, or ops whose sharding the user fixes (`graph.pinned`).
int64_t eliminateCommonSubexpressions(mlir::Block &block);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
