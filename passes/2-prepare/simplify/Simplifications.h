//===- Simplifications.h - pattern sets of simplify-graph -----------------===//
//
// The pass applies all pattern sets below greedily, together with CSE
// (CommonSubexpressions.h), until nothing changes.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_SIMPLIFY_SIMPLIFICATIONS_H
#define PCC_PASSES_2_PREPARE_SIMPLIFY_SIMPLIFICATIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace pcc::prepare {

/// Returns whether phase 2-prepare may fold `op`. Three kinds of ops are not
/// folded: constants and terminators; a broadcast to rank 2 or more that
/// enlarges its input, since a folded mask would grow with the batch; and a
/// cast to a narrower float type, since verification in f64 treats casts as
/// identity but could not undo a rounded constant.
bool isFoldWanted(mlir::Operation *op);

/// Returns whether each element of the result of `op` depends only on the
/// elements of the operands at the same index, after NumPy broadcasting.
bool isElementWise(mlir::Operation *op);

/// Adds a pattern that folds every op for which `isFoldWanted` holds: constant
/// folding and the folds of each op's definition.
void addFoldPatterns(mlir::RewritePatternSet &patterns);
/// Applies only the fold patterns to `function` until nothing changes.
mlir::LogicalResult foldAll(mlir::func::FuncOp function);
/// Adds rewrites of element-wise ops: neutral operands (x + 0), double
/// negations, powers with small exponents, pairs of casts, selects with a known
/// condition, and broadcasts that the reader performs itself.
void addElementWiseSimplifications(mlir::RewritePatternSet &patterns);
/// Adds rewrites of ops that only move elements: composition of reshapes,
/// transposes, broadcasts and slices, transposes absorbed into matmuls, slices
/// of concats.
void addLayoutSimplifications(mlir::RewritePatternSet &patterns);
/// Adds the rewrite that cancels a reshape merging leading dims against a later
/// reshape splitting them (SimplifySplits.cpp).
void addSplitSimplifications(mlir::RewritePatternSet &patterns);
/// Adds rewrites of gathers whose indices spell out the batch row, so that the
/// batch dim can be sharded (SimplifyIndexing.cpp).
void addIndexingSimplifications(mlir::RewritePatternSet &patterns);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_SIMPLIFICATIONS_H
