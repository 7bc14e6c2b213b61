//===- SliceBlocks.cpp - gradient of a value that is read in slices -------===//

#include "dialects/graph/gradients/SliceBlocks.h"
#include <optional>

using namespace mlir;
using namespace pcc::graph;

/// Returns the only dim of which `slice` takes a part, if it takes a range of
/// this dim with step 1.
static std::optional<int64_t> dimOf(SliceOp slice) {
  std::optional<int64_t> found;
  for (auto [dim, size] :
       llvm::enumerate(tensorType(slice.getInput()).getShape())) {
    if (slice.getSteps()[dim] != 1)
      return {};
    if (slice.getSizes()[dim] == size)
      continue;
    if (found)
      return {};
    found = dim;
  }
  return found;
}

/// Returns the first index along `dim` that the slice of `block` takes.
static int64_t startOf(SliceBlock block, int64_t dim) {
  return block.slice.getStarts()[dim];
}

/// Returns the index along `dim` behind the last one that it takes.
static int64_t endOf(SliceBlock block, int64_t dim) {
  return startOf(block, dim) + block.slice.getSizes()[dim];
}

/// Appends zeros of `size` elements along `dim` to `parts`, if there are any.
/// `type` is the type of the whole value.
static void appendZeros(SmallVector<Value> &parts, RankedTensorType type,
                        int64_t dim, int64_t size, GradientBuilder &b) {
  if (size == 0)
    return;
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  parts.push_back(b.zeros(type.clone(shape)));
}

Value pcc::graph::concatOf(SmallVector<SliceBlock> blocks, GradientBuilder &b) {
  const std::optional<int64_t> dim = dimOf(blocks.front().slice);
  if (blocks.size() < 2 || !dim ||
      llvm::any_of(blocks, [&](const SliceBlock &block) {
        return dimOf(block.slice) != dim;
      }))
    return {};
  llvm::sort(blocks, [&](const SliceBlock &x, const SliceBlock &y) {
    return startOf(x, *dim) < startOf(y, *dim);
  });
  RankedTensorType type = tensorType(blocks.front().slice.getInput());
  int64_t end = 0;
  for (const SliceBlock &block : blocks) {
    if (startOf(block, *dim) < end)
      return {};
    end = endOf(block, *dim);
  }
  SmallVector<Value> parts;
  end = 0;
  for (const SliceBlock &block : blocks) {
    appendZeros(parts, type, *dim, startOf(block, *dim) - end, b);
    parts.push_back(block.gradient);
    end = endOf(block, *dim);
  }
  appendZeros(parts, type, *dim, type.getDimSize(*dim) - end, b);
  return b.make<ConcatOp>(parts, static_cast<uint64_t>(*dim));
}
