//===- Fold.h - constant folding of graph ops -----------------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_FOLD_H
#define PCC_DIALECTS_GRAPH_REFERENCE_FOLD_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"

namespace pcc::graph {

/// Largest number of elements of an operand or result of an op that is folded
/// to a constant. The limit keeps large constants out of the module.
inline constexpr int64_t maxFoldedElements = 16384;

/// Returns whether constant folding may replace `op`. The caller must check
/// that all operands are constants. Permits at most 2^24 floating-point
/// operations, and tensors of static shape with at most maxFoldedElements
/// elements. Convolutions and pools are never folded.
bool isFoldable(mlir::Operation *op);

/// Adds constant folding to the graph dialect: MLIR then folds each op that
/// isFoldable() accepts. Results are rounded to their element types.
void registerConstantFolding(mlir::DialectRegistry &registry);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_FOLD_H
