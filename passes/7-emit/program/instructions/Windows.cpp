//===- Windows.cpp - convolutions and pools -------------------------------===//

#include "passes/7-emit/program/InstructionTable.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

static std::vector<int64_t> toVector(ArrayRef<int64_t> list) {
  return {list.begin(), list.end()};
}

/// What convolutions and pools have in common; `pads` lists low, then high.
template <typename Made, typename Op> static void setWindow(Made &made, Op op) {
  ArrayRef<int64_t> pads = op.getPads();
  made.strides = toVector(op.getStrides());
  made.dilations = toVector(op.getDilations());
  made.pads_begin = toVector(pads.take_front(pads.size() / 2));
  made.pads_end = toVector(pads.drop_front(pads.size() / 2));
}

template <typename Op>
static program::ConvT makeConv(Op op, InstructionWriter &writer) {
  program::ConvT made;
  made.x = writer.bufferOf(op.getInput());
  made.w = writer.bufferOf(op.getFilter());
  made.y = writer.bufferOf(op.getResult());
  made.groups = static_cast<int64_t>(op.getGroup());
  setWindow(made, op);
  return made;
}

static bool buildConv(Operation *op, InstructionWriter &writer) {
  auto conv = cast<graph::ConvOp>(op);
  writer.emit(op, makeConv(conv, writer));
  return true;
}

/// What `output_pads` adds at the end is not cut off there.
static bool buildConvTranspose(Operation *op, InstructionWriter &writer) {
  auto conv = cast<graph::ConvTransposeOp>(op);
  program::ConvT made = makeConv(conv, writer);
  made.transposed = true;
  for (auto [end, kept] : llvm::zip_equal(made.pads_end, conv.getOutputPads()))
    end -= kept;
  writer.emit(op, std::move(made));
  return true;
}

static bool buildPool(Operation *op, InstructionWriter &writer) {
  auto pool = cast<graph::PoolOp>(op);
  const bool overhangs =
      llvm::any_of(pool.getOverhang(), [](int64_t size) { return size != 0; });
  if (pool.getKind() == graph::PoolKind::AverageWithPadding && overhangs)
    return false;
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
  table.add<graph::ConvOp>(buildConv);
  table.add<graph::ConvTransposeOp>(buildConvTranspose);
  table.add<graph::PoolOp>(buildPool);
}
