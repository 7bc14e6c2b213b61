//===- ContractionCall.h - a contraction with its GEMM epilogue -----------===//

#ifndef PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
#define PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H

#include "passes/7-emit/fuse/BiasGradientEpilogue.h"
#include "passes/7-emit/fuse/LibraryCalls.h"
#include "passes/7-emit/program/InstructionTable.h"

namespace pcc::emit {

/// A contraction (matmul or convolution) with the steps that its library does
/// in the same call: reading operands in another order of dims, and an epilogue
/// of bias, activation and residual (GEMM epilogue fusion). All values are
/// those of the stage function, not of a rank.library_call's body.
struct ContractionCall {
  /// Returns a contraction without further steps.
  static ContractionCall alone(mlir::Operation *contraction);
  /// Returns the contraction of a library call and its steps. Returns
  /// std::nullopt if the body holds anything else.
  static std::optional<ContractionCall> read(rank::LibraryCallOp call);

  /// The op of the stage function. Messages call the instruction by its node.
  mlir::Operation *op = nullptr;
  /// The matmul or convolution itself, perhaps in the body of `op`.
  mlir::Operation *contraction = nullptr;
  /// The two operands as views of values of the stage function.
  OperandView lhs, rhs;
  /// Steps after the contraction, and the result that is stored.
  Epilogue epilogue;
  /// Sums of one operand beside the product; none if `sums.result` is null.
  BiasGradientEpilogue sums;

  /// Sets the bias, residual and activation of an instruction; `Made` is
  /// MatmulT or ConvT.
  template <typename Made>
  void setEpilogue(Made &made, InstructionWriter &writer) const {
    if (epilogue.bias)
      made.bias = writer.bufferOf(epilogue.bias);
    if (epilogue.residual)
      made.residual = writer.bufferOf(epilogue.residual);
    made.activation = epilogue.activation;
  }

private:
  /// Replaces arguments and results of the body by the operands and results of
  /// `call`.
  void leaveBody(rank::LibraryCallOp call);
};

/// Appends the instruction of a contraction that may be in a library call.
/// Returns false if the device cannot run this form of the contraction.
using BuildCall = bool (*)(const ContractionCall &call,
                           InstructionWriter &writer);
bool buildMatmul(const ContractionCall &call, InstructionWriter &writer);
bool buildConv(const ContractionCall &call, InstructionWriter &writer);
bool buildConvTranspose(const ContractionCall &call, InstructionWriter &writer);

/// Wraps a builder for InstructionTable: lowers a contraction without further
/// steps.
template <BuildCall build>
bool buildAlone(mlir::Operation *op, InstructionWriter &writer) {
  return build(ContractionCall::alone(op), writer);
}

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
