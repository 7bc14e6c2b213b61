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
  /// Whether the columns of the left operand are summed, rather than those of
  /// the right operand:
  ///
  ///   true    left operand [K, M] (stored transposed), sums [M]
  ///   false   right operand [K, N], sums [N]
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
/// sum the columns of another tensor x. The tensor x has the same elements as
/// the operand, but another shape. For example, the operand is a reshape of x.
/// Column j of x consists of all elements that have index j along the last dim.
/// Column j of x and column j of the operand have the same sum. The function
/// replaces the sum of x by a sum of the operand. Example, where the model also
/// reshapes the sums and casts them to f32:
///
///   before   sum of x [2, 5, 4],       reshape to [1, 4],   cast to f32
///   after    sum of operand [10, 4],   cast to f32,         reshape to [1, 4]
///
/// `stored` is the element type of the result of the library call. The cast
/// converts the new sum to this type. There is no cast if the new sum already
/// has this type.
///
/// `last` is the last op that the library call will replace. The caller will
/// insert the library call at the place of `last`. The library call will also
/// replace the new sum and the new cast. The function puts the new ops at these
/// places:
///
///   - Directly before `product`: the new sum and the new cast.
///   - Directly after `last`: the new reshape. It comes after `last` because it
///     will read a result of the library call. All ops that used the result of
///     the old ops now use the result of the new reshape. If one of these ops
///     comes before `last`, the function moves this op behind the new reshape.
///
/// Erases the old sum, and the old reshape and cast of the old sum. Returns the
/// new sum and the new cast.
///
/// Returns a struct whose field `result` is null, and changes no op, in three
/// cases:
///
///   - The block of `product` contains no sum of the columns of an operand, or
///     of the columns of a tensor such as x.
///   - The sum does not have the type `stored`, and no cast converts the sum to
///     this type.
///   - An op before `last` uses the sum, and this op cannot move behind `last`.
///     For example, `last` depends on this op.
BiasGradientEpilogue alignBiasGradient(graph::MatmulOp product,
                                       mlir::Type stored,
                                       mlir::Operation *last);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H
