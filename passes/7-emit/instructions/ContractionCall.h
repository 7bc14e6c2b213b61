//===- ContractionCall.h - a contraction with its GEMM epilogue -----------===//

#ifndef PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
#define PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H

#include "passes/7-emit/fuse/BiasGradientEpilogue.h"
#include "passes/7-emit/fuse/LibraryCalls.h"
#include "passes/7-emit/program/InstructionTable.h"

namespace pcc::emit {

/// Contraction (matmul or convolution) with the further steps that the library
/// computes in the same call: operands that are read through strides, and an
/// epilogue of bias, activation and residual (GEMM epilogue fusion).
///
/// The ops can be in the body of a rank.library_call. The values in this struct
/// are SSA values of the stage function in all cases: the operands and results
/// of the rank.library_call, not those inside its body.
struct ContractionCall {
  /// Returns the call for `contraction`, an op of the stage function. The call
  /// has no further steps (strided operands, epilogue).
  static ContractionCall alone(mlir::Operation *contraction);
  /// Returns the contraction in the body of `call`, with its steps (strided
  /// operands, epilogue). Returns std::nullopt if the body contains any other
  /// op.
  static std::optional<ContractionCall> read(rank::LibraryCallOp call);

  /// Op of the stage function: the contraction, or the rank.library_call around
  /// it. Error messages identify the instruction by the ONNX node of `op`.
  mlir::Operation *op = nullptr;
  /// The matmul or convolution: `op` itself, or an op in the body of `op`.
  mlir::Operation *contraction = nullptr;
  /// Strided views through which the library reads the two operands.
  OperandView lhs, rhs;
  /// Steps after the contraction, such as bias and activation. The library
  /// stores the result of the last step.
  Epilogue epilogue;
  /// Column sums of one operand of a matmul, which the library computes in the
  /// call of the matmul. `sums.result` is null if the call computes no column
  /// sums.
  BiasGradientEpilogue sums;

  /// Stores the bias, residual and activation of the epilogue in `made`, an
  /// instruction of type MatmulT or ConvT.
  template <typename Made>
  void setEpilogue(Made &made, InstructionWriter &writer) const {
    if (epilogue.bias)
      made.bias = writer.bufferOf(epilogue.bias);
    if (epilogue.residual)
      made.residual = writer.bufferOf(epilogue.residual);
    made.activation = epilogue.activation;
  }

private:
  /// Replaces values inside the body of `call` by values outside. An argument
  /// of the body becomes the operand of `call` at its index. A result in the
  /// body becomes the result of `call`.
  void leaveBody(rank::LibraryCallOp call);
};

/// Function that appends the instruction of a contraction, alone or in a
/// library call. Returns false if the device cannot run the contraction with
/// these types or attributes.
using BuildCall = bool (*)(const ContractionCall &call,
                           InstructionWriter &writer);
bool buildMatmul(const ContractionCall &call, InstructionWriter &writer);
bool buildConv(const ContractionCall &call, InstructionWriter &writer);
bool buildConvTranspose(const ContractionCall &call, InstructionWriter &writer);

/// Appends the instruction of `op`, a contraction outside of a
/// rank.library_call, by a call of `build`. The contraction has no further
/// steps (strided operands, epilogue). buildAlone<build> can be an entry of
/// InstructionTable.
template <BuildCall build>
bool buildAlone(mlir::Operation *op, InstructionWriter &writer) {
  return build(ContractionCall::alone(op), writer);
}

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
