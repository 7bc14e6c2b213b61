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

/// Prepares one cuBLASLt call that computes the matmul `product` and the column
/// sums of an operand (a bias gradient). The model may instead sum a tensor x
/// of which the operand is a reshape. `last` is the last op of the call.
/// `stored` is the element type of both results, here f32:
///
///   before                                 after
///   a = sum of x            [4]    bf16    d = sum of operand [4]    bf16
///   c = cast and reshape a  [1, 4] f32     e = cast of d      [4]    f32
///   product, last                          product, last
///                                          f = reshape of e   [1, 4] f32
///
/// Moves ops before `last` that depend on c behind f. Returns d and e. Changes
/// no op and returns null as `result` if the block has no sums of the type
/// `stored`, or if an op that depends on c cannot move.
BiasGradientEpilogue alignBiasGradient(graph::MatmulOp product,
                                       mlir::Type stored,
                                       mlir::Operation *last);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H
