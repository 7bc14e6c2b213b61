//===- AttentionPlan.cpp - how attention is divided over threads ----------===//

#include "passes/7-emit/gpu/AttentionPlan.h"
#include "dialects/dist/Target.h"
#include "passes/7-emit/gpu/WarpProduct.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// A thread holds a row of queries and one of results.
static constexpr int64_t longestRow = 128;
static constexpr int64_t mostWarps = 4;
static constexpr int64_t mostKeys = 64;
/// That a block has without asking for more.
static constexpr int64_t sharedBytes = 48 << 10;

static int64_t padded(int64_t size) {
  return int64_t(llvm::alignTo(uint64_t(size), WarpProduct::depth));
}

AttentionPlan::AttentionPlan(graph::AttentionOp op) {
  auto query = graph::tensorType(op.getQuery()),
       key = graph::tensorType(op.getKey()),
       value = graph::tensorType(op.getValue());
  element = query.getElementType();
  batch = query.getDimSize(0);
  keyHeads = key.getDimSize(1);
  group = query.getDimSize(1) / keyHeads;
  queries = query.getDimSize(2);
  keys = key.getDimSize(2);
  depth = query.getDimSize(3);
  width = value.getDimSize(3);
  const int64_t wanted = llvm::divideCeil(rows(), WarpProduct::rows);
  while (warps < std::min(wanted, mostWarps))
    warps *= 2;
  const int64_t bytesOfKey =
      (keyPitch() + valuePitch()) * element.getIntOrFloatBitWidth() / 8;
  keyTile = std::clamp(int64_t(llvm::PowerOf2Ceil(uint64_t(keys))),
                       WarpProduct::columns, mostKeys);
  while (keyTile * bytesOfKey > sharedBytes)
    keyTile /= 2;
}

int64_t AttentionPlan::rowTile() const { return warps * WarpProduct::rows; }

int64_t AttentionPlan::tiles() const {
  return llvm::divideCeil(rows(), rowTile());
}

int64_t AttentionPlan::keyPitch() const { return padded(depth) + 8; }

int64_t AttentionPlan::valuePitch() const {
  return padded(width) + (element.isF32() ? 4 : 8);
}

bool pcc::emit::isFused(graph::AttentionOp op) {
  auto query = graph::tensorType(op.getQuery()),
       value = graph::tensorType(op.getValue());
  Type element = query.getElementType();
  return dist::targetOf(op->getParentOfType<ModuleOp>()) == "cuda" &&
         WarpProduct::takes(element) &&
         graph::tensorType(op.getKey()).getElementType() == element &&
         value.getElementType() == element && value.getNumElements() > 0 &&
         query.getNumElements() > 0 && query.getDimSize(3) <= longestRow &&
         value.getDimSize(3) <= longestRow;
}

graph::AttentionOp pcc::emit::attentionOf(rank::KernelOp kernel) {
  auto found = kernel.getBody().front().getOps<graph::AttentionOp>();
  return found.empty() ? graph::AttentionOp() : *found.begin();
}
