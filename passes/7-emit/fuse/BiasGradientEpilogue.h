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

/// Returns a bias gradient (column sums of an operand of `product`) that the
/// library can compute along with `product`. Looks for a reduction in the same
/// block that reads the operand itself, not a reshape of it. If there is none,
/// returns an epilogue with a null `result`. Changes no op.
BiasGradientEpilogue findBiasGradient(graph::MatmulOp product);

/// Looks for a reduction that sums the columns of an operand of `product`, or
/// of a reshape of this operand. Replaces it by new ops that findBiasGradient()
/// recognizes:
///
///   before   reshape operand -> sum -> cast
///   after    sum operand -> cast
///
/// Inserts the new ops directly before `product`. The sums get the element type
/// `stored`. Moves ops that read the sums after `last`, the last op that the
/// library call will contain.
///
/// Returns an epilogue with a null `result`, and changes nothing, in two cases:
///
///   - There is no such reduction.
///   - A reader of the sums cannot move.
BiasGradientEpilogue alignBiasGradient(graph::MatmulOp product,
                                       mlir::Type stored,
                                       mlir::Operation *last);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H
