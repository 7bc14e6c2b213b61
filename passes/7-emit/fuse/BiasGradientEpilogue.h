//===- BiasGradientEpilogue.h - bias gradients as matmul epilogues --------===//
//
// The weight gradient of a linear layer contracts the rows of dy; the bias
// gradient sums the same rows. A library that computes the weight gradient
// reads every element of dy and can compute the sums along with it (cuBLASLt's
// epilogues BGRADA and BGRADB):
//
//   dw = graph.matmul x, dy {transpose_lhs}   [k, m] · [k, n]
//   db = graph.reduce sum dy over [0]         [n]
//
// The kernel that produces dy could compute these column sums as well. But a
// GPU divides a column reduction by columns rather than by elements, so that
// the kernel would have too few blocks.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H
#define PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Column sums of one operand of a matmul. The library cuBLASLt computes the
/// column sums and the matmul in the same call. Example: the operand [K, N] has
/// column sums of shape [N]. In the backward pass of a linear layer, the column
/// sums are the gradient of the bias.
struct BiasGradientEpilogue {
  /// Tensor of the sums of the columns of one operand of a matmul. Example: an
  /// operand of shape [K, N] has N columns, so the tensor has the shape [N].
  /// Null if the library cuBLASLt computes the matmul without column sums.
  mlir::Value result;
  /// Whether the library cuBLASLt sums the columns of the left operand of a
  /// matmul. If false, the library sums the columns of the right operand.
  /// Example, where K is the dim that the matmul contracts:
  ///
  ///   ofLhs   operand                shape of the sums
  ///   true    left operand [K, M]    [M]
  ///   false   right operand [K, N]   [N]
  bool ofLhs = false;
  /// Ops that compute the sums of the columns of one operand of a matmul. The
  /// list contains a reduction, which computes the sums. The list can also
  /// contain a cast of the sums to f32. The list is empty if `result` is null.
  llvm::SmallVector<mlir::Operation *, 2> ops;
};

/// Finds a bias gradient that the library cuBLASLt can compute in the same call
/// as `product`. `product` is a matmul. A bias gradient is the sums of the
/// columns of an operand of the matmul. Example: the operand [K, N] has N
/// columns, and its bias gradient has the shape [N].
///
/// Looks for a reduction op that computes such sums. The input of the reduction
/// must be the operand itself, and not a reshape of the operand. The reduction
/// must be in the same block as `product`. Returns the reduction, or the
/// reduction and a cast to f32 that follows it. If there is no such reduction,
/// returns a struct whose field `result` is null. Changes no op.
BiasGradientEpilogue findBiasGradient(graph::MatmulOp product);

/// Prepares a call of the library cuBLASLt that computes a matmul and a bias
/// gradient. `product` is the matmul. A bias gradient is the sums of the
/// columns of an operand of the matmul. Example: an operand of shape [10, 4]
/// has 4 columns, and its bias gradient has the shape [4].
///
/// `last` is the last op that the library call will replace. `last` is
/// `product`, or an op after `product`, such as a cast of the result of
/// `product`. `stored` is the element type of the results of the library call.
///
/// The library call can only sum the columns of the operand itself. The model
/// may instead sum a tensor x that has the same elements in another shape.
/// Example: x has the shape [2, 5, 4], and the operand is a reshape of x to the
/// shape [10, 4]. The sum of x over the dims 0 and 1 is equal to the sum of the
/// operand over the dim 0. The function therefore replaces the ops that sum x
/// by ops that sum the operand. Example with `stored` = f32, in execution
/// order:
///
///   ops before the call              ops after the call
///   of this function                 of this function
///
///   a = sum of x       [4]    bf16   d = sum of operand [4]    bf16
///   b = reshape of a   [1, 4] bf16   e = cast of d      [4]    f32
///   c = cast of b      [1, 4] f32    product
///   product                          last
///   last                             f = reshape of e   [1, 4] f32
///
/// The names a to f stand for the ops of this example:
///
///   - The function erases the ops a, b and c. Each op that read c reads f
///     instead.
///   - The caller will replace the ops d, e, `product` and `last` by one
///     library call, in the place of `last`. The results of e and `last` will
///     be the two results of the library call.
///   - The op f reads e, which will be a result of the library call. The
///     function therefore puts f after `last`.
///   - An op between c and `last` may read c, or may read the result of another
///     op that depends on c. The function moves this op behind f.
///   - If the sum d has the type `stored`, the function does not create e. Then
///     f reads d.
///
/// Returns the ops d and e, and the result of e. If there is no e, returns the
/// op d and its result.
///
/// The function changes no op, and returns a struct whose field `result` is
/// null, in three cases:
///
///   - The block of `product` contains no op that sums the columns of an
///     operand, or of a tensor such as x. An operand counts only if it has two
///     dims and `product` contracts the first dim.
///   - The sum a does not have the type `stored`, and no chain of reshapes and
///     casts, such as b and c, converts a to this type. Each op of the chain
///     must be the only reader of the op before it.
///   - `last` depends on c, or an op with side effects depends on c and comes
///     before `last`. The function could not move this op behind `last`.
BiasGradientEpilogue alignBiasGradient(graph::MatmulOp product,
                                       mlir::Type stored,
                                       mlir::Operation *last);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H
