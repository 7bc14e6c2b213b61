//===- SplitReductions.cpp - two-stage reductions of long rows ------------===//

#include "passes/7-emit/gpu/lower/SplitReductions.h"
#include "passes/7-emit/gpu/lower/LoweringBuilder.h"
#include "passes/7-emit/kernel/Plan.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

namespace {
/// Largest numbers of elements: of a row that one block reduces, and of a part
/// of a longer row.
struct Lengths {
  int64_t row, part;
};
/// Reduced dims [first, first + count), which have `size` elements together and
/// are reshaped to [parts, size / parts].
struct Cut {
  int64_t first = 0, count = 0, size = 0, parts = 0;
  int64_t end() const { return first + count; }
};
} // namespace

/// Lengths for rows that are contiguous in memory (`along`), which have up to
/// 1024 threads each, and for columns (`across`), which have 8.
static constexpr Lengths along = {1 << 16, 1 << 14}, across = {1 << 11, 1 << 9};

/// Returns the run of neighbouring dims among the reduced dims `dims` that has
/// the most elements. `parts` of the result is not set.
static Cut largestNeighbours(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  Cut largest, now;
  for (int64_t dim : dims) {
    if (now.count == 0 || dim != now.end())
      now = {dim, 0, 1};
    ++now.count;
    now.size *= shape[dim];
    if (now.size > largest.size)
      largest = now;
  }
  return largest;
}

/// Returns the smallest divisor of `size` that is at least `least`.
static int64_t divisorFrom(int64_t size, int64_t least) {
  int64_t found = size;
  for (int64_t divisor = 1; divisor * divisor <= size; ++divisor)
    if (size % divisor == 0)
      for (int64_t one : {divisor, size / divisor})
        if (one >= least)
          found = std::min(found, one);
  return found;
}

/// Returns the cut of a reduction; std::nullopt if its rows are short or have
/// no suitable divisor.
static std::optional<Cut> cutOf(ReduceOp op) {
  const auto rows = rowSpaceOf(op);
  if (!rows)
    return std::nullopt;
  const Lengths &most = rows->isByColumns() ? across : along;
  const int64_t length = rows->innerSize();
  if (length <= most.row)
    return std::nullopt;
  Cut cut = largestNeighbours(shapeOf(op.getInput()), op.getDims());
  cut.parts = divisorFrom(cut.size, llvm::divideCeil(length, most.part));
  // With parts of fewer elements, the second reduction would read almost as
  // much as the first one.
  constexpr int64_t shortest = 16;
  if (cut.parts > length / shortest)
    return std::nullopt;
  return cut;
}

/// Returns whether a reduction of `kind` rounds, so that its intermediate
/// results need f32.
static bool isAddedUp(ReduceKind kind) {
  return kind == ReduceKind::Sum || kind == ReduceKind::Mean ||
         kind == ReduceKind::Prod;
}

/// Replaces `op` by a reduction of parts and a reduction over the parts. The
/// mean of a row is the sum of its parts, divided in the second reduction.
static void split(ReduceOp op, const Cut &cut) {
  LoweringBuilder b(op);
  auto type = tensorType(op.getInput());
  const ReduceKind kind = op.getKind();
  const bool isMean = kind == ReduceKind::Mean;
  SmallVector<int64_t> shape(type.getShape().take_front(cut.first));
  shape.append({cut.parts, cut.size / cut.parts});
  llvm::append_range(shape, type.getShape().drop_front(cut.end()));
  // `dims` are the dims of the first reduction, without the dim of the parts.
  // `place` is the dim of the parts in its result.
  SmallVector<int64_t> dims;
  int64_t place = cut.first;
  for (int64_t dim : op.getDims())
    if (dim < cut.first) {
      dims.push_back(dim);
      --place;
    } else if (dim == cut.first) {
      dims.push_back(dim + 1);
    } else if (dim >= cut.end()) {
      dims.push_back(dim - cut.count + 2);
    }
  Value value = op.getInput();
  if (isAddedUp(kind))
    value = b.cast(value, sumType(type.getElementType()));
  Value parts =
      b.reduce(isMean ? ReduceKind::Sum : kind, b.reshape(value, shape), dims);
  IntegerAttr divisor;
  if (isMean)
    divisor = b.getI64IntegerAttr(static_cast<int64_t>(
        op.getDivisor().value_or(rowSpaceOf(op)->innerSize())));
  Value whole = b.make<ReduceOp>(kind, parts, ArrayRef<int64_t>(place),
                                 /*keep=*/false, divisor);
  b.replaceWith(b.cast(whole, type.getElementType()));
}

void pcc::emit::splitLongReductions(func::FuncOp function) {
  for (ReduceOp op : SmallVector<ReduceOp>(function.getOps<ReduceOp>()))
    if (const auto cut = cutOf(op))
      split(op, *cut);
}
