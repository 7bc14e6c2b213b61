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

/// Returns whether phase 2-prepare may fold `op`. Returns false for these ops:
///
///  - constants and terminators
///  - a broadcast to rank 2 or more that enlarges its input: the constant, such
///    as a mask, would grow with the batch
///  - a cast to a narrower float type: the constant would lack digits that a
///    verification in f64 needs
bool isFoldWanted(mlir::Operation *op);

/// Adds the pattern that folds ops. It evaluates ops on constants, and applies
/// the `fold` methods of ops. It skips each op for which isFoldWanted() returns
/// false.
void addFoldPatterns(mlir::RewritePatternSet &patterns);
/// Applies only the fold patterns to `function` until nothing changes.
mlir::LogicalResult foldAll(mlir::func::FuncOp function);
/// Adds rewrites of element-wise ops:
///
///  - neutral operands (x + 0), double negations, powers with small exponents
///  - pairs of casts, selects with a known condition
///  - broadcasts that a following element-wise op performs implicitly
void addElementWiseSimplifications(mlir::RewritePatternSet &patterns);
/// Adds rewrites of ops that only move elements: composition of reshapes,
/// transposes, broadcasts and slices, transposes absorbed into matmuls, slices
/// of concats.
void addLayoutSimplifications(mlir::RewritePatternSet &patterns);
/// Adds the rewrite of a reshape that divides dim 0, such as [32, 5] → [8, 4,
/// 5]. It moves the reshape up to an earlier reshape or a constant and merges
/// the two (SimplifySplits.cpp).
void addSplitSimplifications(mlir::RewritePatternSet &patterns);
/// Adds rewrites of gathers whose indices contain the row number, so that row i
/// of the result reads row i of the data. The new gathers have the rows as a
/// batch dim, so that pcc can shard the rows (SimplifyIndexing.cpp).
void addIndexingSimplifications(mlir::RewritePatternSet &patterns);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_SIMPLIFICATIONS_H
