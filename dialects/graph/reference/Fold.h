//===- Fold.h - constant folding of graph ops -----------------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_FOLD_H
#define PCC_DIALECTS_GRAPH_REFERENCE_FOLD_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"

namespace pcc::graph {

/// Largest number of elements that an operand or result may have if its op is
/// replaced by a constant (constant folding). The limit keeps large constants
/// out of the module.
inline constexpr int64_t maxFoldedElements = 16384;

/// Returns whether `op` may be replaced by a constant if all its operands are
/// constants. `op` must have an evaluator, be cheap to evaluate, and have no
/// operand or result of more than maxFoldedElements elements. Returns false for
/// an op that is already a constant. Also returns false for loss_gradient,
/// because passes search for that op to find the start of the backward pass.
bool isFoldable(mlir::Operation *op);

/// Adds constant folding to the graph dialect. `Operation::fold`, the
/// canonicalizer and `OpBuilder::createOrFold` then replace an op by constants
/// if isFoldable(op) and all its operands are constants. Results are rounded to
/// their element types (Numerics::Model).
void registerConstantFolding(mlir::DialectRegistry &registry);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_FOLD_H
