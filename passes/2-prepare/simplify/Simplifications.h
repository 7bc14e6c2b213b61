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

/// Returns whether phase 2-prepare may fold `op`. Returns false for:
///  - constants and terminators
///  - a broadcast to rank 2 or more that enlarges its input, because a folded
///    mask would grow with the batch
///  - a cast to a narrower float type. Verification in f64 skips such casts,
///    but could not restore the digits that a folded constant has lost
bool isFoldWanted(mlir::Operation *op);

/// Adds the pattern that folds ops: evaluates ops on constants, and applies the
/// folds of op definitions. It matches only ops for which `isFoldWanted` is
/// true.
void addFoldPatterns(mlir::RewritePatternSet &patterns);
/// Applies only the fold patterns to `function` until nothing changes.
mlir::LogicalResult foldAll(mlir::func::FuncOp function);
/// Adds rewrites of element-wise ops: neutral operands (x + 0), double
/// negations, powers with small exponents, pairs of casts, and selects with a
/// known condition. Also removes broadcasts that a following element-wise op
/// performs implicitly.
void addElementWiseSimplifications(mlir::RewritePatternSet &patterns);
/// Adds rewrites of ops that only move elements: composition of reshapes,
/// transposes, broadcasts and slices, transposes absorbed into matmuls, slices
/// of concats.
void addLayoutSimplifications(mlir::RewritePatternSet &patterns);
/// Adds the rewrite of a reshape that divides dim 0, such as [32, 5] → [8, 4,
/// 5]. The rewrite moves the reshape up to an earlier reshape or a constant and
/// merges the two, so that fewer reshapes remain (SimplifySplits.cpp).
void addSplitSimplifications(mlir::RewritePatternSet &patterns);
/// Adds rewrites of gathers in which batch row i reads row i of the data, and i
/// is part of the indices. The row becomes a batch dim of the gather, so that
/// the batch can be sharded (SimplifyIndexing.cpp).
void addIndexingSimplifications(mlir::RewritePatternSet &patterns);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_SIMPLIFICATIONS_H
