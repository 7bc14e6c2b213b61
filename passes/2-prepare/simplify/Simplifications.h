//===- Simplifications.h - rewrites of simplify-graph ---------------------===//

#ifndef PCC_PASSES_2_PREPARE_SIMPLIFY_SIMPLIFICATIONS_H
#define PCC_PASSES_2_PREPARE_SIMPLIFY_SIMPLIFICATIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace pcc::prepare {

/// Whether `op` has a fold that this phase wants: all but the repeating of a
/// constant, which would let masks grow with the batch, and the rounding of
/// one, which would change what is computed in f64.
bool isFoldWanted(mlir::Operation *op);

/// Whether the result of `op` at a place depends on the operands at this place
/// only, where operands broadcast.
bool isElementWise(mlir::Operation *op);

/// Ops on constants, and ops that their own folds remove.
void addFoldPatterns(mlir::RewritePatternSet &patterns);
/// Applies these to all of a function.
mlir::LogicalResult foldAll(mlir::func::FuncOp function);
/// Neutral operands, double negations, casts, selects, broadcasts.
void addElementWiseSimplifications(mlir::RewritePatternSet &patterns);
/// Reshapes, transposes, slices, concats.
void addLayoutSimplifications(mlir::RewritePatternSet &patterns);
/// Dims that are merged and split again.
void addSplitSimplifications(mlir::RewritePatternSet &patterns);
/// Lookups whose indices name the row that they are in.
void addIndexingSimplifications(mlir::RewritePatternSet &patterns);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_SIMPLIFICATIONS_H
