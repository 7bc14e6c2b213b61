//===- ContractionCall.h - a contraction with its GEMM epilogue -----------===//

#ifndef PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
#define PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H

#include "passes/7-emit/fuse/BiasGradientEpilogue.h"
#include "passes/7-emit/fuse/LibraryCalls.h"
#include "passes/7-emit/program/InstructionTable.h"

namespace pcc::emit {

/// Contraction (matmul or convolution), together with further steps that a
/// library (oneDNN or cuBLASLt) computes in the same call. The library can read
/// operands through strided views. It can also change the result of the
/// contraction by an epilogue: a bias, an activation and a residual (GEMM
/// epilogue fusion).
///
/// In the IR, the op rank.library_call is one call with further steps. The body
/// (region) of this op contains the contraction and the further steps as ops.
/// A contraction without further steps needs no rank.library_call.
///
/// The fields of this struct contain SSA values, such as the bias. If the call
/// is a rank.library_call, these values are its operands and results. They are
/// not the block arguments or other values in its body.
struct ContractionCall {
  /// Returns a call that computes only `contraction`: it reads dense operands,
  /// and has no epilogue.
  static ContractionCall alone(mlir::Operation *contraction);
  /// Reads the body of `call`: a contraction (matmul or convolution), ops that
  /// become strided views of its operands, and ops of its epilogue (bias,
  /// activation, ...). Returns std::nullopt if the body contains any further
  /// op.
  static std::optional<ContractionCall> read(rank::LibraryCallOp call);

  /// Contraction (matmul or convolution), or the rank.library_call whose body
  /// contains it.
  mlir::Operation *op = nullptr;
  /// Matmul or convolution that a library computes.
  mlir::Operation *contraction = nullptr;
  /// Strided views through which the library reads the two operands.
  OperandView lhs, rhs;
  /// Steps after the matmul or convolution that a library computes in the same
  /// call, such as bias and activation.
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
  /// Replaces SSA values that are in the body of `call` by SSA values that are
  /// outside of the body. The values are the tensors of this struct, such as
  /// the bias. A block argument of the body is replaced by the operand of
  /// `call` that it stands for. A value that the body yields is replaced by the
  /// result of `call`.
  void leaveBody(rank::LibraryCallOp call);
};

/// Function that appends the instruction of `call`. Returns false if the device
/// cannot run the contraction.
using BuildCall = bool (*)(const ContractionCall &call,
                           InstructionWriter &writer);
bool buildMatmul(const ContractionCall &call, InstructionWriter &writer);
bool buildConv(const ContractionCall &call, InstructionWriter &writer);
bool buildConvTranspose(const ContractionCall &call, InstructionWriter &writer);

/// Appends the instruction of `op`, a matmul or convolution that is not in the
/// body of a rank.library_call. The library call computes only `op`, without an
/// epilogue (bias, activation).
///
/// The template argument `build` is the function that appends the instruction.
/// `build` has a parameter of type ContractionCall. This template makes a
/// ContractionCall from `op`, and calls `build` with it. Example:
/// buildAlone<buildMatmul>(op, writer) appends the instruction of the matmul
/// `op`.
template <BuildCall build>
bool buildAlone(mlir::Operation *op, InstructionWriter &writer) {
  return build(ContractionCall::alone(op), writer);
}

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
