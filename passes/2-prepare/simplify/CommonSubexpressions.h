//===- CommonSubexpressions.h - one op for equal ones ---------------------===//

#ifndef PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
#define PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H

#include "mlir/IR/Block.h"

namespace pcc::prepare {

/// Replaces each op of `block` that computes what an earlier one has computed;
/// names do not matter, except that pinned ops stay. Returns how many went.
int64_t eliminateCommonSubexpressions(mlir::Block &block);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
