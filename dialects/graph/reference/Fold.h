//===- Fold.h - constant folding of graph ops -----------------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_FOLD_H
#define PCC_DIALECTS_GRAPH_REFERENCE_FOLD_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"

namespace pcc::graph {

/// Largest number of elements that an operand or result of a folded op may
/// have. The limit keeps weights and activations out of the module.
inline constexpr int64_t maxFoldedElements = 16384;

/// Returns whether `op` can be folded when all its operands are constants: it
/// has an evaluator and is cheap, and its operands and results have at most
/// maxFoldedElements elements. Constants are not folded again, and neither is
/// loss_gradient, which marks the start of the backward pass.
bool isFoldable(mlir::Operation *op);

/// Registers a fold hook for the graph dialect. `Operation::fold`, the
/// canonicalizer and `OpBuilder::createOrFold` then fold every op that
/// isFoldable and has only constant operands. Results are rounded to the
/// element types of the model (Numerics::Model).
void registerConstantFolding(mlir::DialectRegistry &registry);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_FOLD_H
