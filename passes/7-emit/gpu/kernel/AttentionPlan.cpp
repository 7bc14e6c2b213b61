//===- AttentionPlan.cpp - division of fused attention over GPU threads ---===//

#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/FusedAttention.h"
#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Largest number of warps of a block of an attention kernel.
static constexpr int64_t mostWarps = 4;
/// Largest number of keys in one tile in shared memory. A kernel for the
/// gradient of keys has tiles of queries, with the same limit.
static constexpr int64_t mostOthers = 64;

/// Returns the smallest multiple of 8 that is at least `size`. `size` is the
/// number of elements in one row of a matrix in shared memory. A matrix product
/// on tensor cores reads the elements of a row in groups of 8. Example:
/// padded(60) is 64.
static int64_t padded(int64_t size) {
  return int64_t(llvm::alignTo(uint64_t(size), WarpProduct::depth));
}

AttentionPlan::AttentionPlan(graph::AttentionOpInterface op) {
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
  rowsAreKeys = isa<graph::AttentionKeyGradientOp>(op.getOperation());
  const int64_t wanted = llvm::divideCeil(rows(), WarpProduct::rows);
  while (warps < std::min(wanted, mostWarps))
    warps *= 2;
  // Shared memory holds two tiles of `otherTile` rows: keys and values, or
  // queries and output gradients. `bytesOfRow` counts one row of each tile.
  const int64_t bytesOfRow = (pitchOfRows(depth) + pitchOfRows(width)) *
                             element.getIntOrFloatBitWidth() / 8;
  otherTile = std::clamp(int64_t(llvm::PowerOf2Ceil(uint64_t(others()))),
                         WarpProduct::columns, mostOthers);
  while (otherTile * bytesOfRow > sharedBytes)
    otherTile /= 2;
}

int64_t AttentionPlan::rowTile() const { return warps * WarpProduct::rows; }

int64_t AttentionPlan::tiles() const {
  return llvm::divideCeil(rows(), rowTile());
}

int64_t AttentionPlan::pitchOfRows(int64_t size) const {
  return padded(size) + 8;
}

int64_t AttentionPlan::pitchOfColumns(int64_t size) const {
  return padded(size) + (element.isF32() ? 4 : 8);
}

bool pcc::emit::isFused(graph::AttentionOp op) {
  return dist::targetOf(op->getParentOfType<ModuleOp>()) == "cuda" &&
         graph::fitsFusedKernel(
             cast<graph::AttentionOpInterface>(op.getOperation()));
}

graph::AttentionOpInterface pcc::emit::attentionOf(rank::KernelOp kernel) {
  auto found = kernel.getBody().front().getOps<graph::AttentionOpInterface>();
  return found.empty() ? graph::AttentionOpInterface() : *found.begin();
}
