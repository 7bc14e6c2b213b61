//===- ContractionCall.h - a contraction with its GEMM epilogue -----------===//

#ifndef PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
#define PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H

#include "passes/7-emit/fuse/BiasGradientEpilogue.h"
#include "passes/7-emit/fuse/LibraryCalls.h"
#include "passes/7-emit/program/InstructionTable.h"

namespace pcc::emit {

/// Call of a library (oneDNN or cuBLASLt) that computes a contraction (a matmul
/// or a convolution). The call can include other ops: layout changes of
/// operands such as transposes, an epilogue such as a bias or an activation,
/// and column sums of an operand, which are the gradient of a bias. In the IR,
/// a contraction with other ops is the body of a rank.library_call. A
/// contraction without other ops is not in a rank.library_call. The SSA values
/// in this struct are the operands and results of the rank.library_call, not
/// the SSA values of its body.
struct ContractionCall {
  /// Returns a library call that computes only `contraction`, a matmul or a
  /// convolution. The library reads the operands of `contraction` as dense
  /// tensors. The library applies no epilogue (such as the addition of a bias)
  /// to the result of `contraction`.
  static ContractionCall alone(mlir::Operation *contraction);
  /// Reads the body of `call`. The body must contain one contraction (matmul or
  /// convolution). The body may also contain three kinds of ops:
  ///
  ///   - ops that transpose, slice or reshape an operand of a matmul,
  ///   - ops of the epilogue, such as the addition of a bias or an activation,
  ///   - ops that sum the columns of one operand of a matmul.
  ///
  /// Returns std::nullopt if the body contains any other op.
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
  /// Changes the fields of this struct that hold SSA values in the body of
  /// `call`. After the change, these fields hold operands and results of
  /// `call`. `call` is a rank.library_call, and its body contains the
  /// contraction. The function does not change the IR. It makes two changes to
  /// the fields:
  ///
  ///   - The fields `lhs.source`, `rhs.source`, `epilogue.bias` and
  ///     `epilogue.residual` hold block arguments of the body. Each block
  ///     argument is replaced by the operand of `call` with the same index.
  ///   - The fields `epilogue.result` and `sums.result` hold values that the
  ///     body computes. Result 0 of `call` replaces `epilogue.result`. Result 1
  ///     of `call` replaces `sums.result`. A null field stays null.
  void leaveBody(rank::LibraryCallOp call);
};

/// Function that appends the instruction of `call`. Returns false if the device
/// cannot run the contraction.
using BuildCall = bool (*)(const ContractionCall &call,
                           InstructionWriter &writer);
bool buildMatmul(const ContractionCall &call, InstructionWriter &writer);
bool buildConv(const ContractionCall &call, InstructionWriter &writer);
bool buildConvTranspose(const ContractionCall &call, InstructionWriter &writer);

/// Appends the instruction of `op`, a matmul or convolution without an epilogue
/// (bias, activation). The op is not in the body of a rank.library_call.
///
/// The function first makes a ContractionCall that consists of `op` alone. The
/// function then calls the template argument `build` with this ContractionCall,
/// and returns the result of `build`. `build` is a function, such as
/// buildMatmul(), that appends the instruction. Example:
/// buildAlone<buildMatmul>(op, writer) appends the instruction of the matmul
/// `op`.
template <BuildCall build>
bool buildAlone(mlir::Operation *op, InstructionWriter &writer) {
  return build(ContractionCall::alone(op), writer);
}

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_INSTRUCTIONS_CONTRACTIONCALL_H
