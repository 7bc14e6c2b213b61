//===- ContractionCall.h - a contraction with its GEMM epilogue -----------===//

#ifndef PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
#define PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H

#include "passes/7-emit/fuse/BiasGradientEpilogue.h"
#include "passes/7-emit/fuse/LibraryCalls.h"
#include "passes/7-emit/program/InstructionTable.h"

namespace pcc::emit {

/// A contraction (matmul or convolution) and the steps that its library
/// computes in the same call: operands that are read through strides, and an
/// epilogue of bias, activation and residual (GEMM epilogue fusion). All
/// members are SSA values of the stage function, even where the steps are in
/// the body of a rank.library_call.
struct ContractionCall {
  /// Returns the call for `contraction`, an op of the stage function, without
  /// steps.
  static ContractionCall alone(mlir::Operation *contraction);
  /// Returns the contraction in the body of `call` and its steps. Returns
  /// std::nullopt if the body has an op that is part of neither.
  static std::optional<ContractionCall> read(rank::LibraryCallOp call);

  /// The op of the stage function: the contraction or the rank.library_call
  /// around it. Error messages name the instruction by this op's ONNX node.
  mlir::Operation *op = nullptr;
  /// The matmul or convolution. Equal to `op`, or in the body of `op`.
  mlir::Operation *contraction = nullptr;
  /// Strided views through which the library reads the two operands.
  OperandView lhs, rhs;
  /// Steps after the contraction, and the result of the last step, which the
  /// library stores.
  Epilogue epilogue;
  /// Column sums of one operand of a matmul, which the library computes in the
  /// same call. `sums.result` is null if the call computes none.
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
  /// Replaces each member that is an argument of the body of `call` by the
  /// operand of `call` that it stands for, and each result in the body by the
  /// result of `call`.
  void leaveBody(rank::LibraryCallOp call);
};

/// Function that appends the instruction of a contraction, alone or in a
/// library call. Returns false if the device cannot run this form of the
/// contraction.
using BuildCall = bool (*)(const ContractionCall &call,
                           InstructionWriter &writer);
bool buildMatmul(const ContractionCall &call, InstructionWriter &writer);
bool buildConv(const ContractionCall &call, InstructionWriter &writer);
bool buildConvTranspose(const ContractionCall &call, InstructionWriter &writer);

/// Turns a BuildCall into a builder for InstructionTable: appends the
/// instruction of `op`, a contraction without further steps.
template <BuildCall build>
bool buildAlone(mlir::Operation *op, InstructionWriter &writer) {
  return build(ContractionCall::alone(op), writer);
}

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
