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
/// True for a contraction (matmul or convolution) of a kind and of element
/// types that the library supports.
bool isLibraryContraction(mlir::Operation *op);

/// Returns whether the target's library can compute a bias gradient along with
/// `product` in one call (BiasGradientEpilogue.h). A bias gradient is the
/// column sums of an operand. False in reproducible runs.
bool canComputeBiasGradient(graph::MatmulOp product);

/// Longest sequence of steps (bias, activation, residual, ...) after a
/// contraction that the library can compute in the contraction's call. The
/// result of each step except the last has the next step as its only reader.
struct Epilogue {
  Epilogue() = default;
  /// Finds the steps after `contraction` that the library can compute in the
  /// same call. Changes no op.
  explicit Epilogue(mlir::Operation *contraction);

  /// Ops of the epilogue's steps, and the reshapes between steps, in execution
  /// order. Empty if the library computes the contraction alone.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Values that the epilogue's steps add to the product; null if there is no
  /// such step. `residual` is an ordinary tensor, or the sum of the results for
  /// the preceding microbatches (gradient accumulation).
  mlir::Value bias, residual;
  program::Activation activation = program::Activation::None;
  /// Result of the last op in `ops`, or of the contraction if `ops` is empty.
  mlir::Value result;
  /// Places at which the library stores the elements of the product. Element
  /// [i, j] of this view is the place, in `result`, of element [i, j] of the
  /// product. The strides are row-major unless a step is a transpose.
  StridedView stored;
};

/// Strided view through which a matmul reads one operand, in place of
/// transposes and slices that would copy it.
struct OperandView {
  /// Returns a view of `operand` that replaces no layout ops: the library reads
  /// `operand` itself, as a dense tensor.
  static OperandView plain(mlir::Value operand);

  /// Dense tensor in memory that the library reads. It is the operand itself if
  /// there are no layout ops (transposes, slices, reshapes) to replace.
  mlir::Value source;
  /// Layout ops that compute the matmul's operand from `source`, in execution
  /// order. The view replaces these ops. Each op has one reader.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Offset, shape and strides of the operand's elements within `source`.
  StridedView view;
};

/// Returns the view that replaces the layout ops (transposes, slices, reshapes)
/// that produce `operand`, an operand of a matmul. Returns a plain view, which
/// replaces no ops, in two cases:
///
///   - The library cannot read the strides.
///   - A fused kernel computes the source, and can store its result transposed
///     at no cost.
OperandView viewOperand(mlir::Value operand);

/// Returns whether a fused kernel (rather than a library call) contains an op
/// that reads `value`, directly or through reshapes.
bool isReadByKernel(mlir::Value value);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_LIBRARYCALLS_H
