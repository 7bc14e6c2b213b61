//===- BiasGradientEpilogue.h - sums of what a product reads anyway -------===//
//
// The gradient of a linear layer's weight contracts the rows of dy, and that of
// its bias sums them. A library that makes the first has read every element
// that the second needs:
//
//   dw = graph.matmul x, dy {transpose_lhs}   [k, m] · [k, n]
//   db = graph.reduce sum dy over [0]         [n]
//
// A kernel that makes dy could add up its columns as well, but then has as few
// blocks as there are columns, not as there are elements.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H
#define PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Sums of one factor of a product over what is contracted.
struct BiasGradientEpilogue {
  /// Null where there are none.
  mlir::Value result;
  /// Whether they are of the lhs, one for each row of the product; else of the
  /// rhs, one for each column.
  bool ofLhs = false;
  /// The reduction, and perhaps a cast to the type that the product is stored
  /// in.
  llvm::SmallVector<mlir::Operation *, 2> ops;
};

/// The sums beside a product, which read its very operand.
BiasGradientEpilogue findBiasGradient(graph::MatmulOp product);

/// Looks for a reduction of the same elements that a factor of `product` has,
/// in whatever shape, and writes it before `product` as findBiasGradient() wants
/// it, in the element type that the product is `stored` in. Its readers come
/// behind `last`; nothing changes where one of them has to stay before.
BiasGradientEpilogue alignBiasGradient(graph::MatmulOp product,
                                       mlir::Type stored,
                                       mlir::Operation *last);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_BIASGRADIENTEPILOGUE_H
