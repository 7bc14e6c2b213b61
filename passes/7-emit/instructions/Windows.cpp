//===- Windows.cpp - lowering of convolutions and pools -------------------===//

#include "passes/7-emit/instructions/ContractionCall.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

static std::vector<int64_t> toVector(ArrayRef<int64_t> list) {
  return {list.begin(), list.end()};
}

/// Stores strides, dilations and padding of `op`, a convolution or pool, in the
/// instruction `made`. The attribute `pads` of `op` has two numbers per spatial
/// dim: first the padding in front of every dim, then the padding at the end of
/// every dim.
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

/// Appends the instruction of a transposed convolution. The instruction cuts
/// off `pads_end` elements at the end of each dim of the result. The op's
/// `output_pads` tells how many of the elements that its `pads` would cut off
/// must stay. So `output_pads` is subtracted.
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

/// Appends the instruction of a pool.
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
