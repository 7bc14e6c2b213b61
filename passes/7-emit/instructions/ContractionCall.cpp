//===- ContractionCall.cpp - a contraction with its GEMM epilogue ---------===//

#include "passes/7-emit/instructions/ContractionCall.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

ContractionCall ContractionCall::alone(Operation *contraction) {
  ContractionCall call;
  call.op = call.contraction = contraction;
  call.lhs = OperandView::plain(contraction->getOperand(0));
  call.rhs = OperandView::plain(contraction->getOperand(1));
  call.epilogue.result = contraction->getResult(0);
  call.epilogue.stored = OperandView::plain(call.epilogue.result).view;
  return call;
}

std::optional<ContractionCall> ContractionCall::read(rank::LibraryCallOp op) {
  Block &body = op.getBody().front();
  auto found = llvm::find_if(
      body, [](Operation &inner) { return isLibraryContraction(&inner); });
  if (found == body.end())
    return std::nullopt;
  ContractionCall call = alone(&*found);
  call.op = op;
  if (isa<graph::MatmulOp>(call.contraction)) {
    call.lhs = viewOperand(call.lhs.source);
    call.rhs = viewOperand(call.rhs.source);
  }
  call.epilogue = Epilogue(call.contraction);
  if (auto product = dyn_cast<graph::MatmulOp>(call.contraction))
    call.sums = findBiasGradient(product);
  const size_t numRead = call.lhs.ops.size() + call.rhs.ops.size() +
                         call.epilogue.ops.size() + call.sums.ops.size() + 1;
  SmallVector<Value, 2> results = {call.epilogue.result};
  if (call.sums.result)
    results.push_back(call.sums.result);
  if (numRead + 1 != body.getOperations().size() ||
      !llvm::equal(op.getYield().getOperands(), results))
    return std::nullopt;
  call.leaveBody(op);
  return call;
}

void ContractionCall::leaveBody(rank::LibraryCallOp call) {
  for (Value *value :
       {&lhs.source, &rhs.source, &epilogue.bias, &epilogue.residual})
    if (auto argument = dyn_cast_if_present<BlockArgument>(*value))
      *value = call.getInputs()[argument.getArgNumber()];
  epilogue.result = call->getResult(0);
  if (sums.result)
    sums.result = call->getResult(1);
}

/// Appends the instruction for `op`, a rank.library_call. The body of `op`
/// contains one matmul or convolution. The kind of this contraction selects the
/// function that builds the instruction.
static bool buildLibraryCall(Operation *op, InstructionWriter &writer) {
  static const llvm::StringMap<BuildCall> builders = {
      {graph::MatmulOp::getOperationName(), buildMatmul},
      {graph::ConvOp::getOperationName(), buildConv},
      {graph::ConvTransposeOp::getOperationName(), buildConvTranspose}};
  auto call = ContractionCall::read(cast<rank::LibraryCallOp>(op));
  return call && builders.lookup(call->contraction->getName().getStringRef())(
                     *call, writer);
}

void emit::addLibraryCallInstructions(InstructionTable &table) {
  table.add<rank::LibraryCallOp>(buildLibraryCall);
}
