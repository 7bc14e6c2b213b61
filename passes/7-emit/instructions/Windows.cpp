//===- Windows.cpp - lowering of convolutions and pools -------------------===//

#include "passes/7-emit/instructions/ContractionCall.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

static std::vector<int64_t> toVector(ArrayRef<int64_t> list) {
  return {list.begin(), list.end()};
}

/// Copies strides, dilations and padding of a convolution or pool to its
/// instruction. The attribute `pads` lists the front padding of all dims, then
/// the end padding of all dims.
template <typename Made, typename Op> static void setWindow(Made &made, Op op) {
  ArrayRef<int64_t> pads = op.getPads();
  made.strides = toVector(op.getStrides());
  made.dilations = toVector(op.getDilations());
  made.pads_begin = toVector(pads.take_front(pads.size() / 2));
  made.pads_end = toVector(pads.drop_front(pads.size() / 2));
}

/// Returns the instruction of a convolution or transposed convolution, with its
/// epilogue (bias, activation).
template <typename Op>
static program::ConvT makeConv(Op op, const ContractionCall &call,
                               InstructionWriter &writer) {
  program::ConvT made;
  made.x = writer.bufferOf(call.lhs.source);
  made.w = writer.bufferOf(call.rhs.source);
  made.y = writer.bufferOf(call.epilogue.result);
  made.groups = static_cast<int64_t>(op.getGroup());
  setWindow(made, op);
  call.setEpilogue(made, writer);
  return made;
}

bool emit::buildConv(const ContractionCall &call, InstructionWriter &writer) {
  auto conv = cast<graph::ConvOp>(call.contraction);
  writer.emit(call.op, makeConv(conv, call, writer));
  return true;
}

/// Appends the instruction of a transposed convolution. In the op, an end
/// padding of p removes the last p elements of the result along a dim. The op
/// has another attribute, `output_pads`. A value q in `output_pads` lengthens
/// the result by q elements at the end. The instruction has no such attribute.
/// Its end padding is p − q instead. Example: with p = 2 and q = 1, the
/// instruction has the end padding 1, and removes the last element.
bool emit::buildConvTranspose(const ContractionCall &call,
                              InstructionWriter &writer) {
  auto conv = cast<graph::ConvTransposeOp>(call.contraction);
  program::ConvT made = makeConv(conv, call, writer);
  made.transposed = true;
  for (auto [end, kept] : llvm::zip_equal(made.pads_end, conv.getOutputPads()))
    end -= kept;
  writer.emit(call.op, std::move(made));
  return true;
}

/// Appends the instruction of `op`, a graph.pool. A graph.pool is a max pooling
/// or an average pooling of a neural network.
static bool buildPool(Operation *op, InstructionWriter &writer) {
  auto pool = cast<graph::PoolOp>(op);
  static constexpr program::PoolKind kinds[] = {
      program::PoolKind::Max, program::PoolKind::AverageWithoutPadding,
      program::PoolKind::AverageWithPadding};
  program::PoolT made;
  made.x = writer.bufferOf(pool.getInput());
  made.y = writer.bufferOf(pool.getResult());
  made.kind = kinds[static_cast<int>(pool.getKind())];
  made.window = toVector(pool.getWindow());
  setWindow(made, pool);
  writer.emit(op, std::move(made));
  return true;
}

void emit::addWindowInstructions(InstructionTable &table) {
  table.add<graph::ConvOp>(buildAlone<buildConv>);
  table.add<graph::ConvTransposeOp>(buildAlone<buildConvTranspose>);
  table.add<graph::PoolOp>(buildPool);
}
