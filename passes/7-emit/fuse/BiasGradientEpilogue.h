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

/// Column sums of one matmul operand, which the library computes along with the
/// matmul. In the backward pass of a linear layer they are the bias gradient.
struct BiasGradientEpilogue {
  /// Sums of the columns of a matmul operand. Null if the library computes no
  /// sums along with the matmul.
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

/// Finds a bias gradient that the library can compute along with `product`. A
/// bias gradient is the sums of the columns of an operand of `product`.
/// Example: the operand [K, N] has N columns, and its bias gradient has the
/// shape [N].
///
/// Finds only a reduction that is in the block of `product`, and whose input is
/// the operand. Does not find a reduction of a reshaped operand. If there is no
/// such reduction, returns a struct whose field `result` is null. Changes no
/// op.
BiasGradientEpilogue findBiasGradient(graph::MatmulOp product);

/// Prepares the ops of a bias gradient for a library call. The library call
/// will compute `product` and the bias gradient together. A bias gradient is
/// the sums of the columns of an operand of `product`. The library can sum only
/// the operand itself. The model may sum a tensor that has the same elements,
/// but another shape. Replaces the sums by new ops that read the operand. For
/// example:
///
///   before   operand -> reshape -> sum -> cast
///   after    operand -> sum -> cast -> reshape
///
/// Inserts the new sum and the new cast directly before `product`. The new cast
/// converts the sums to the element type `stored`. There is no new cast if the
/// sums already have this type. Returns the new sum and the new cast.
///
/// `last` is the last op that the library call will replace. The library call
/// will be at the place of `last`. Therefore inserts the new reshape after
/// `last`, and moves all ops that use the sums behind the new reshape.
///
/// Changes no op in three cases, and returns a struct whose field `result` is
/// null:
///
///   - The block of `product` contains no such sums.
///   - The sums do not have the type `stored`, and no cast converts them to it.
///   - An op that uses the sums cannot move behind `last`.
BiasGradientEpilogue alignBiasGradient(graph::MatmulOp product,
                                       mlir::Type stored,
                                       mlir::Operation *last);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H
