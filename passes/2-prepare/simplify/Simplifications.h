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
///  - a broadcast that enlarges its input and has a result of rank 2 or more.
///    The folded constant would be large. An example is a mask that is repeated
///    for each sample of the batch.
///  - a cast from a float type to a narrower float type, such as f32 to f16.
///    The folded constant would be rounded to f16. `pcc verify` computes all
///    floats in f64, and needs the digits that the rounding removes.
bool isFoldWanted(mlir::Operation *op);

/// Adds a pattern to `patterns`. The pattern folds ops. To fold an op means to
/// replace its result by a constant or by another value that exists already.
/// For example, the pattern replaces the sum of two constants by a constant.
/// The pattern does not fold an op if the function isFoldWanted() returns false
/// for the op. An example is a cast from f32 to f16.
void addFoldPatterns(mlir::RewritePatternSet &patterns);
/// Folds the ops of `function` until nothing changes. To fold an op means to
/// replace its result by a constant or by another value that exists already.
/// For example, the sum of two constants is replaced by a constant, and a
/// reshape that keeps the shape is replaced by its input.
///
/// An op is not folded if the function isFoldWanted() returns false for the op.
/// An example is a cast from f32 to f16. foldAll() does not apply the other
/// simplifications of this header.
mlir::LogicalResult foldAll(mlir::func::FuncOp function);
/// Adds rewrites of element-wise ops to `patterns`. Examples:
///
///   before                  after
///   x + 0, 1 · x            x
///   -(-x), not(not(x))      x
///   x^2                     x · x
///   cast(cast(x))           cast(x), if the inner cast changes no number
///   select(true, a, b)      a
///   add(broadcast(x), y)    add(x, y), because add can broadcast x itself
void addElementWiseSimplifications(mlir::RewritePatternSet &patterns);
/// Adds rewrites to `patterns`. The rewrites simplify ops that copy elements to
/// other places and do not compute new elements, such as reshape and slice.
/// Examples:
///
///   before                    after
///   reshape(reshape(x))       reshape(x)
///   transpose(transpose(x))   transpose(x)
///   broadcast(broadcast(x))   broadcast(x)
///   slice(slice(x))           slice(x)
///   slice(concat(x, y))       slice(x), if it reads no element of y
///   matmul(transpose(x), y)   matmul(x, y), with a flag that transposes x
void addLayoutSimplifications(mlir::RewritePatternSet &patterns);
/// Adds a rewrite to `patterns`. The rewrite removes a reshape that splits dim
/// 0 of a tensor, such as [8, 5] to [2, 4, 5]. After the rewrite, the ops
/// before the reshape compute the tensor [2, 4, 5] directly. In this example,
/// an earlier reshape has merged the two dims, and the rewrite removes both
/// reshapes:
///
///   before  [2, 4, 5] -reshape-> [8, 5] -relu-> [8, 5] -reshape-> [2, 4, 5]
///   after   [2, 4, 5] -relu-> [2, 4, 5]
///
/// The rewrite changes nothing if it would have to add a reshape. For example,
/// the relu could read an input of the model with the shape [8, 5]. This input
/// would need a new reshape to [2, 4, 5].
void addSplitSimplifications(mlir::RewritePatternSet &patterns);
/// Adds rewrites of gathers to `patterns`. If a gather reads one vector from
/// each row of a tensor, the rewrite removes the row numbers from the indices
/// and makes the rows a batch dim. Ranks can split a batch dim, and then read
/// only their own rows. Example for x of shape [3, 4, 5]:
///
///   before  gather_nd(x, [[0, 2], [1, 0], [2, 1]])
///   after   gather_nd(x, [[2], [0], [1]], batch_dims = 1)
void addIndexingSimplifications(mlir::RewritePatternSet &patterns);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_SIMPLIFICATIONS_H
