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
  /// Column sums of one operand of the matmul. Example: the operand [K, N] has
  /// column sums of shape [N]. Null if the library call computes only the
  /// matmul, and no column sums.
  mlir::Value result;
  /// Whether `result` contains the column sums of the left operand of the
  /// matmul. If false, `result` contains the column sums of the right operand.
  /// Example, where the matmul contracts the dim K:
  ///
  ///   ofLhs   operand                shape of `result`
  ///   true    left operand [K, M]    [M]
  ///   false   right operand [K, N]   [N]
  bool ofLhs = false;
  /// Ops that compute the column sums: a reduction, sometimes followed by a
  /// cast to f32.
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

/// Rewrites the ops of a bias gradient, so that one call of the library
/// cuBLASLt can compute `product` and the bias gradient together. `product` is
/// a matmul. A bias gradient is the sums of the columns of an operand of the
/// matmul. Example: the operand [10, 4] has 4 columns, and its bias gradient
/// has the shape [4].
///
/// The library can only sum the columns of the operand itself. The model may
/// sum the columns of another tensor x. The tensor x has the elements of the
/// operand in the same order, but another shape. Example: the operand [10, 4]
/// is a reshape of the tensor x [2, 5, 4]. The sum of x over the dims 0 and 1
/// is equal to the sum of the operand over the dim 0. The model may also
/// reshape the sums and cast them.
///
/// The function creates new ops: a sum of the operand, a cast of this sum, and
/// a reshape of the result of the cast. Then the function erases the old ops.
/// Example, where `product` and `last` are ops of the model:
///
///   old ops                          new ops
///   a = sum of x       [4]    bf16   d = sum of operand [4]    bf16
///   b = reshape of a   [1, 4] bf16   e = cast of d      [4]    f32
///   c = cast of b      [1, 4] f32    product
///   product                          last
///   last                             f = reshape of e   [1, 4] f32
///
/// `last` is the last op that the library call will replace. `last` is
/// `product`, or an op after `product` such as a cast of the result of
/// `product`. In the example, the caller will replace the ops d, e, `product`
/// and `last` by the library call. The library call will be in the place of
/// `last`. The op f comes after `last`, because f will read a result of the
/// library call. All ops that read c now read f. If an op between c and `last`
/// depends on c, the function moves this op behind f.
///
/// `stored` is the element type of the results of the library call. In the
/// example, `stored` is f32. The function creates no cast e if the sum d
/// already has this type.
///
/// Returns the ops d and e. The field `result` of the returned struct is the
/// result of e, or the result of d if there is no cast e. Returns a struct
/// whose field `result` is null, and changes no op, in three cases:
///
///   - The block of `product` contains no sum of the columns of an operand, or
///     of the columns of a tensor such as x.
///   - The sum a does not have the type `stored`, and no chain of reshapes and
///     casts converts the sum to this type. Each op of the chain must be the
///     only reader of the op before it.
///   - An op between c and `last` depends on c, and this op cannot move behind
///     `last`. For example, `last` depends on this op.
BiasGradientEpilogue alignBiasGradient(graph::MatmulOp product,
                                       mlir::Type stored,
                                       mlir::Operation *last);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H
