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

/// Column sums of one operand of a matmul, which the library computes along
/// with the matmul. In the backward pass of a linear layer, the column sums are
/// the bias gradient.
struct BiasGradientEpilogue {
  /// Value that holds the column sums. Null if the library computes no column
  /// sums with the matmul.
  mlir::Value result;
  /// Operand whose columns are summed. True for the left operand, which is
  /// stored as [K, M] (transposed): the sums have shape [M]. False for the
  /// right operand, [K, N]: the sums have shape [N].
  bool ofLhs = false;
  /// Ops that compute the column sums `result`: a reduction and, if the sums
  /// are stored as f32 but have a narrower type (e.g. bf16), a cast to f32.
  llvm::SmallVector<mlir::Operation *, 2> ops;
};

/// Returns the bias gradient that the library can compute along with `product`:
/// a column sum, in the same block, of an operand of `product`. The column sum
/// must read the operand directly rather than through a reshape. Returns an
/// empty epilogue if there is no such sum. Changes no op.
BiasGradientEpilogue findBiasGradient(graph::MatmulOp product);

/// Searches for a reduction that sums the columns of an operand of `product`,
/// possibly through reshapes. Replaces this reduction by one that
/// findBiasGradient() recognizes:
///
///   before   reshape operand -> sum -> cast
///   after    sum operand -> cast
///
/// The new ops are directly before `product`. The cast to the element type
/// `stored` is left out if the sums have this type already.
///
/// `last` is the last op of the future library call. Ops that read the sums
/// move to after `last`. Returns an empty epilogue, and changes nothing, if
/// there is no such reduction or if one of these ops cannot move.
BiasGradientEpilogue alignBiasGradient(graph::MatmulOp product,
                                       mlir::Type stored,
                                       mlir::Operation *last);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H
