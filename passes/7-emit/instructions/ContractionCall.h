//===- ContractionCall.h - a contraction and what its library does --------===//

#ifndef PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
#define PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H

#include "passes/7-emit/fuse/BiasGradientEpilogue.h"
#include "passes/7-emit/fuse/LibraryCalls.h"
#include "passes/7-emit/program/InstructionTable.h"

namespace pcc::emit {

/// A contraction alone or in a rank.library_call, as instructions need it:
/// values are those of the stage function.
struct ContractionCall {
  /// A contraction with nothing around it.
  static ContractionCall alone(mlir::Operation *contraction);
  /// None where the body holds more than a contraction and its library's steps.
  static std::optional<ContractionCall> read(rank::LibraryCallOp call);

  /// The stage's op: messages name it.
  mlir::Operation *op = nullptr;
  mlir::Operation *contraction = nullptr;
  OperandView lhs, rhs;
  Epilogue epilogue;
  BiasGradientEpilogue sums;

  /// Sets what the bodies of Matmul and Conv have in common.
  template <typename Made>
  void setEpilogue(Made &made, InstructionWriter &writer) const {
    if (epilogue.bias)
      made.bias = writer.bufferOf(epilogue.bias);
    if (epilogue.residual)
      made.residual = writer.bufferOf(epilogue.residual);
    made.activation = epilogue.activation;
  }

private:
  /// Replaces arguments of the body by the operands of `call`.
  void leaveBody(rank::LibraryCallOp call);
};

/// Builders of the contractions that may stand in a library call. False if the
/// device cannot run this form.
using BuildCall = bool (*)(const ContractionCall &call,
                           InstructionWriter &writer);
bool buildMatmul(const ContractionCall &call, InstructionWriter &writer);
bool buildConv(const ContractionCall &call, InstructionWriter &writer);
bool buildConvTranspose(const ContractionCall &call, InstructionWriter &writer);

/// For the table: a contraction on its own.
template <BuildCall build>
bool buildAlone(mlir::Operation *op, InstructionWriter &writer) {
  return build(ContractionCall::alone(op), writer);
}

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
