//===- LibraryCalls.h - epilogues and operand views of library calls ------===//
//
// A contraction is a matmul or a convolution. Its library can read the operands
// of a matmul through strides, and can apply an epilogue: steps on the result
// before it is stored, each at most once, in this order:
//
//   oneDNN     matmul                 bias, activation, residual, order of dims
//              conv, conv_transpose   bias, activation
//   cuBLASLt   matmul                 bias, then either activation (relu or
//                                     gelu by tanh) or residual, order of dims
//              or instead             sum over microbatches
//
// cuBLASLt can also compute a bias gradient (BiasGradientEpilogue.h) along with
// a matmul without bias and activation.
//
// A convolution takes no residual: the library would have to convert the
// residual to the layout that it chose for the result. This costs more than the
// kernel that adds the residual.
//
// In a training step activations stay kernels. Biases and residuals of bf16 and
// f16 stay kernels as well, since the kernels round between the steps. The
// reason is recomputation: it decides which values have other readers, and thus
// which ops could become epilogues, but must not change the bits of a value. A
// gradient that is only added to a sum over microbatches is never recomputed,
// so the library may add it.
//
// A library call computes the same as the ops it replaces, up to the rounding
// of the element type. The one exception is relu of NaN, which gives 0.
//
// Epilogue and OperandView read the ops around a contraction. In a function
// they find the ops that can become one call. In the body of a
// rank.library_call they find all ops of the body again.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_LIBRARYCALLS_H
#define PCC_PASSES_7_EMIT_FUSE_LIBRARYCALLS_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/StridedView.h"
#include "runtime/program/Program_generated.h"

namespace pcc::emit {

/// Returns whether the target's library (oneDNN or cuBLASLt) computes `op`.
/// True for a matmul or convolution with element types that the library
/// supports.
bool isLibraryContraction(mlir::Operation *op);

/// Returns whether the library can compute a bias gradient (column sums of an
/// operand) along with `product`. False in reproducible runs.
bool canComputeBiasGradient(graph::MatmulOp product);

/// Steps (bias, activation, residual, ...) after a contraction (matmul or
/// convolution) that the library computes in the same call. Each step is the
/// only reader of the preceding step.
struct Epilogue {
  Epilogue() = default;
  /// Finds all steps after `contraction`, a matmul or convolution, that the
  /// library can compute in the same call. Changes no op.
  explicit Epilogue(mlir::Operation *contraction);

  /// Ops that compute the steps (bias, activation, ...), and reshapes between
  /// them, in execution order. Empty if the library call computes only a matmul
  /// or convolution.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Bias and residual that the library adds to the product. Null if it adds
  /// none. `residual` is another tensor, or the sum over the preceding
  /// microbatches (gradient accumulation).
  mlir::Value bias, residual;
  program::Activation activation = program::Activation::None;
  /// Result of the library call: that of the last op in `ops`. If `ops` is
  /// empty, the result of the matmul or convolution.
  mlir::Value result;
  /// Offset and strides at which `result` holds the elements of the product.
  /// The strides are row-major unless the library transposes the product.
  StridedView stored;
};

/// Strided view through which a matmul reads one operand, in place of
/// transposes and slices that would copy it.
struct OperandView {
  /// Returns a view of all elements of `operand` in their order. The view
  /// replaces no transpose, slice or reshape.
  static OperandView plain(mlir::Value operand);

  /// Dense tensor that the library reads through `view`. If `ops` is empty, it
  /// is the matmul's operand itself.
  mlir::Value source;
  /// Transposes, slices and reshapes that compute the matmul's operand from
  /// `source`, in execution order. `view` replaces them. Each op has one
  /// reader.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Offset and strides of the elements of the matmul's operand within
  /// `source`, and the shape of the operand.
  StridedView view;
};

/// Returns a strided view through which a matmul can read the elements of
/// `operand`. The view replaces the transposes, slices and reshapes that
/// compute `operand` from another tensor. Returns OperandView::plain() in three
/// cases:
///
///   - No such op computes `operand`.
///   - The library cannot read a tensor with the strides of the view.
///   - A fused kernel computes the other tensor. The kernel can store it
///     transposed at no cost.
OperandView viewOperand(mlir::Value operand);

/// Returns whether a fused kernel, rather than a library call, reads `value`.
/// Looks through reshapes.
bool isReadByKernel(mlir::Value value);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_LIBRARYCALLS_H
