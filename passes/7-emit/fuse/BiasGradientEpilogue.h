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
  /// Whether cuBLASLt sums the columns of the matmul's left operand. If false,
  /// it sums the columns of the right operand.
  bool ofLhs = false;
  /// Ops that compute the sums of the columns of one operand of a matmul. The
  /// list contains a reduction, which computes the sums. The list can also
  /// contain a cast of the sums to f32. The list is empty if `result` is null.
  llvm::SmallVector<mlir::Operation *, 2> ops;
};

/// Finds a bias gradient that cuBLASLt can compute along with the matmul
/// `product`: a reduction in the same block that sums the columns of an
/// operand. The reduction must read the operand itself, not a reshape of it.
/// Returns a null `result` if there is no such reduction. Changes no op.
BiasGradientEpilogue findBiasGradient(graph::MatmulOp product);

/// Replaces the ops that compute a bias gradient by ops that sum the columns of
/// an operand of `product`, and that cast the sums to `stored`. Unlike
/// findBiasGradient(), also accepts a reduction that reads the operand before a
/// reshape. One cuBLASLt call, in place of the op `last`, can then compute the
/// matmul and the sums. Moves the readers of the bias gradient behind `last`.
/// If there is no bias gradient, or if its readers cannot move, changes no op,
/// and the `result` is null.
BiasGradientEpilogue alignBiasGradient(graph::MatmulOp product,
                                       mlir::Type stored,
                                       mlir::Operation *last);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H
