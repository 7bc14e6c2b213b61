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

/// Returns whether the target's library (oneDNN or cuBLASLt) can compute
/// `product` and a bias gradient in the same call. `product` is a matmul. A
/// bias gradient is the sums of the columns of one operand of the matmul.
/// Example: the bias gradient of the operand [K, N] has the shape [N]. Returns
/// false if the module has the attribute `graph.reproducible`. Does not check
/// whether the program contains a bias gradient.
bool canComputeBiasGradient(graph::MatmulOp product);

/// Epilogue of a matmul or convolution: the next ops, which oneDNN or cuBLASLt
/// computes in the same call. Examples are the addition of a bias, and relu. No
/// op outside of the library call may read the values in between.
struct Epilogue {
  Epilogue() = default;
  /// Finds the ops after `contraction` that the library can compute in the same
  /// call as `contraction`. `contraction` is a matmul or a convolution.
  /// Example: the library can compute the addition of a bias after a matmul.
  /// Stores the ops and their properties in the fields of this struct. Changes
  /// no op.
  explicit Epilogue(mlir::Operation *contraction);

  /// Ops that the library computes after the matmul or convolution, in
  /// execution order. Examples are the addition of a bias, and an activation
  /// function such as relu. If a reshape lies between two of these ops, the
  /// list also contains the reshape. The list is empty if the library call
  /// computes only the matmul or convolution.
  llvm::SmallVector<mlir::Operation *> ops;
  /// `bias` is the bias that the library adds to the result of the matmul or
  /// convolution. `residual` is a tensor that the library adds to the result of
  /// the matmul, after the bias and the activation. `residual` has as many
  /// elements as the result. In gradient accumulation, `residual` is the sum of
  /// the gradients of the preceding microbatches. A field is null if the
  /// library adds no such tensor.
  mlir::Value bias, residual;
  program::Activation activation = program::Activation::None;
  /// Result of the library call. The library computes the matmul or
  /// convolution, and then the ops in the field `ops`. If `ops` is empty,
  /// `result` is the result of the matmul or convolution. Otherwise, `result`
  /// is the result of the last op in `ops`.
  mlir::Value result;
  /// Positions in `result` at which the elements of the matmul or convolution
  /// are stored, as an offset and strides. Example: the matmul has shape [2,
  /// 3], and `result` is its transpose. Element [i, j] of the matmul is at i +
  /// 2 j, so the strides are [1, 2].
  StridedView stored;
};

/// Tensor and strides through which a matmul reads one operand. Transposes,
/// slices and reshapes before the matmul then need not run. Example: the
/// operand is the transpose of a tensor [2, 3]. Element [i, j] of the operand
/// is at i + 3 j.
struct OperandView {
  /// Returns the tensor and the strides for a matmul that reads `operand`
  /// itself. The field `source` is `operand`. The field `ops` is empty. The
  /// field `view` has the shape of `operand`, the offset 0 and row-major
  /// strides.
  static OperandView plain(mlir::Value operand);

  /// Dense tensor that the library reads through `view`. If the field `ops` is
  /// empty, `source` is the operand of the matmul. Otherwise the ops in `ops`
  /// compute the operand of the matmul from `source`.
  mlir::Value source;
  /// Transposes, slices and reshapes that compute the operand of the matmul
  /// from `source`, in execution order. These ops need not run, since the
  /// matmul reads the elements of the operand from `source`. The field `view`
  /// gives the positions of these elements. Each op has one reader. `ops` is
  /// empty if the matmul reads the operand itself.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Shape of the operand, and the offset and strides of its elements in
  /// `source`.
  StridedView view;
};

/// Returns how a matmul can read `operand` with strides, without the
/// transposes, slices and reshapes before it. Returns
/// OperandView::plain(operand) if this is impossible, or if a fused kernel
/// computes the tensor before these ops. This kernel can execute the ops too,
/// at no cost.
OperandView viewOperand(mlir::Value operand);

/// Returns whether a fused kernel, rather than a library call, reads `value`.
/// Looks through reshapes.
bool isReadByKernel(mlir::Value value);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_LIBRARYCALLS_H
