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

/// Returns whether phase 2-prepare may fold `op`. Returns false for constants
/// and terminators, and in two more cases:
///
/// - A broadcast to a larger tensor of rank 2 or more: the fold would create a
///   large constant.
/// - A cast to a float type that cannot represent all numbers of the operand's
///   float type, such as f32 to bf16. `pcc verify` computes in f64, and needs
///   the digits that such a cast removes.
bool isFoldWanted(mlir::Operation *op);

/// Adds a pattern to `patterns`. The pattern folds ops. To fold an op means to
/// replace its result by a constant or by another value that exists already.
/// For example, the pattern replaces the sum of two constants by a constant.
/// The pattern does not fold an op if the function isFoldWanted() returns false
/// for the op. An example is a cast from f32 to f16.
void addFoldPatterns(mlir::RewritePatternSet &patterns);
/// Folds the ops of `function` until nothing changes. Skips ops for which
/// isFoldWanted() returns false. Does not apply the other simplifications of
/// this header.
mlir::LogicalResult foldAll(mlir::func::FuncOp function);
/// Adds rewrites that simplify element-wise ops. Examples: x + 0 becomes x,
/// -(-x) becomes x, x^2 becomes x · x, and add(broadcast(x), y) becomes add(x,
/// y).
void addElementWiseSimplifications(mlir::RewritePatternSet &patterns);
/// Adds rewrites that simplify ops that only move or copy elements. Two
/// adjacent reshapes, transposes, broadcasts or slices become one. A matmul
/// absorbs a transpose or a broadcast of its operands.
void addLayoutSimplifications(mlir::RewritePatternSet &patterns);
/// Adds a rewrite that removes a reshape which splits dim 0, such as [8, 5] to
/// [2, 4, 5]. The ops that compute the input of the reshape then compute the
/// split shape themselves. The rewrite changes these ops from the reshape back
/// to an earlier reshape or a constant. The rewrite never adds a reshape.
void addSplitSimplifications(mlir::RewritePatternSet &patterns);
/// Adds rewrites of gathers that read one vector x[r, i[r]] from each row r of
/// a tensor x. The rewrites remove the row numbers r from the indices, and make
/// the rows a batch dim. Ranks can split this dim, and each rank then reads
/// only its own rows.
void addIndexingSimplifications(mlir::RewritePatternSet &patterns);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_SIMPLIFICATIONS_H
