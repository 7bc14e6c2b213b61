//===- ContractionCall.h - a contraction with its GEMM epilogue -----------===//

#ifndef PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
#define PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H

#include "passes/7-emit/fuse/BiasGradientEpilogue.h"
#include "passes/7-emit/fuse/LibraryCalls.h"
#include "passes/7-emit/program/InstructionTable.h"

namespace pcc::emit {

/// Library call (oneDNN or cuBLASLt) that computes a matmul or convolution. It
/// can also change layouts of operands, apply an epilogue such as a bias, and
/// sum columns of an operand. SSA values here are operands and results of the
/// rank.library_call, not values in its body.
struct ContractionCall {
  /// Returns a library call that computes only `contraction`, a matmul or a
  /// convolution. The library reads the operands of `contraction` as dense
  /// tensors. The library applies no epilogue (such as the addition of a bias)
  /// to the result of `contraction`.
  static ContractionCall alone(mlir::Operation *contraction);
  /// Reads the body of `call`, which must contain one matmul or convolution. It
  /// may also contain transposes, slices and reshapes of matmul operands,
  /// epilogue ops, and column sums of a matmul operand. Returns std::nullopt if
  /// the body contains any other op.
  static std::optional<ContractionCall> read(rank::LibraryCallOp call);

  /// Contraction (matmul or convolution), or the rank.library_call whose body
  /// contains it.
  mlir::Operation *op = nullptr;
  /// Matmul or convolution that a library computes.
  mlir::Operation *contraction = nullptr;
  /// The two operands of the matmul or convolution. Each operand has a source
  /// tensor and strides. The library (oneDNN or cuBLASLt) reads the source
  /// tensor with these strides. Example: the lhs of a matmul is the transpose
  /// of a [2, 3] tensor. The source is the [2, 3] tensor, and the strides are 1
  /// and 3.
  OperandView lhs, rhs;
  /// Steps after the matmul or convolution, such as the addition of a bias or
  /// an activation. The library (oneDNN or cuBLASLt) computes the matmul or
  /// convolution and these steps in one call.
  Epilogue epilogue;
  /// Sums of the columns of one matmul operand (the bias gradient of a linear
  /// layer), which a library computes in the same call as the matmul.
  /// `sums.result` is null if the call computes no sums.
  BiasGradientEpilogue sums;

  /// Sets the bias, residual and activation of `made`, an instruction of type
  /// MatmulT or ConvT, to those in `epilogue`.
  template <typename Made>
  void setEpilogue(Made &made, InstructionWriter &writer) const {
    if (epilogue.bias)
      made.bias = writer.bufferOf(epilogue.bias);
    if (epilogue.residual)
      made.residual = writer.bufferOf(epilogue.residual);
    made.activation = epilogue.activation;
  }

private:
  /// Replaces values in the body of `call` by operands and results of `call`,
  /// in the fields of this struct. The IR does not change.
  void leaveBody(rank::LibraryCallOp call);
};

/// Function that appends the instruction of `call`. Returns false if the device
/// cannot run the contraction.
using BuildCall = bool (*)(const ContractionCall &call,
                           InstructionWriter &writer);
bool buildMatmul(const ContractionCall &call, InstructionWriter &writer);
bool buildConv(const ContractionCall &call, InstructionWriter &writer);
bool buildConvTranspose(const ContractionCall &call, InstructionWriter &writer);

/// Appends the instruction of `op`, a matmul or convolution outside of a
/// rank.library_call. Returns false if the device cannot run `op`.
template <BuildCall build>
bool buildAlone(mlir::Operation *op, InstructionWriter &writer) {
  return build(ContractionCall::alone(op), writer);
}

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
