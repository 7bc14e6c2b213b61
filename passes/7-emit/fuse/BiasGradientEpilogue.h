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

/// Sums of one factor of a product over the contracted dim.
struct BiasGradientEpilogue {
  /// Value that holds the sums. Null if there is no such epilogue.
  mlir::Value result;
  /// True for sums of the lhs, one per row of the product; false for sums of
  /// the rhs, one per column.
  bool ofLhs = false;
  /// Ops that compute `result`: the reduction and, if the product is stored in
  /// another type than its own, a cast to that type.
  llvm::SmallVector<mlir::Operation *, 2> ops;
};

/// Returns the bias gradient that the library computes along with `product`: a
/// reduction, in the block of `product`, that reads a factor of `product`
/// directly. Changes nothing.
BiasGradientEpilogue findBiasGradient(graph::MatmulOp product);

/// Prepares a bias gradient for findBiasGradient(). Looks for a reduction that
/// sums a factor of `product`, possibly through reshapes. Its sums must have
/// the element type `stored`, possibly after a cast. Replaces this reduction by
/// one that reads the factor itself, directly before `product`, with a cast to
/// `stored`.
///
/// `last` is the last op of the future library call; readers of the sums move
/// behind `last`. Returns an empty epilogue, and changes nothing, if there is
/// no such reduction or if one of its readers cannot move.
BiasGradientEpilogue alignBiasGradient(graph::MatmulOp product,
                                       mlir::Type stored,
                                       mlir::Operation *last);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H
