//===- SplitReductions.cpp - two-stage reductions of long rows ------------===//

#include "passes/7-emit/gpu/lower/SplitReductions.h"
#include "passes/7-emit/gpu/lower/LoweringBuilder.h"
#include "passes/7-emit/kernel/Plan.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

namespace {
/// `row` is the largest number of elements of a row for which one block of
/// threads reduces the whole row. A longer row is divided into parts of at most
/// `part` elements.
struct Lengths {
  int64_t row, part;
};
/// Division of a reduction's rows into parts. The dims [first, first + count),
/// which are reduced, have `size` elements in all. They are reshaped to [parts,
/// size / parts]. The first new reduction runs over the elements of each part,
/// the second over the parts.
struct Cut {
  int64_t first = 0, count = 0, size = 0, parts = 0;
  int64_t end() const { return first + count; }
};
} // namespace

/// Limits, in elements, for the lengths of rows and parts: `along` for rows
/// that are contiguous in memory, which get up to 1024 threads each, and
/// `across` for columns, which get 8 threads each.
static constexpr Lengths along = {1 << 16, 1 << 14}, across = {1 << 11, 1 << 9};

/// Returns the run of adjacent dims among `dims` with the most elements. `dims`
/// are the reduced dims of `shape`. Leaves `parts` of the result 0.
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

/// Returns the smallest divisor of `size` that is not less than `least`.
static int64_t divisorFrom(int64_t size, int64_t least) {
  int64_t found = size;
  for (int64_t divisor = 1; divisor * divisor <= size; ++divisor)
    if (size % divisor == 0)
      for (int64_t one : {divisor, size / divisor})
        if (one >= least)
          found = std::min(found, one);
  return found;
}

/// Returns the division of the rows of a reduction into parts of equal size.
/// Returns std::nullopt if one block of threads can reduce each row, or if no
/// divisor of the rows' size gives parts of at least 16 elements.
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
  // Do not cut rows into parts of less than 16 elements. The second reduction
  // reads one element per part, so it would read almost as much as the first
  // one.
  constexpr int64_t shortest = 16;
  if (cut.parts > length / shortest)
    return std::nullopt;
  return cut;
}

/// Returns whether the intermediate results of a reduction of `kind` are
/// rounded, so that they should be f32. True for sums, means and products,
/// false for maxima and minima.
static bool isAddedUp(ReduceKind kind) {
  return kind == ReduceKind::Sum || kind == ReduceKind::Mean ||
         kind == ReduceKind::Prod;
}

/// Replaces `op` by two reductions: the first one reduces each part of a row,
/// and the second one combines the parts of each row. For a mean, the first
/// reduction is a sum, and the second one is a mean, which divides by the
/// number of elements of the row.
static void split(ReduceOp op, const Cut &cut) {
  LoweringBuilder b(op);
  auto type = tensorType(op.getInput());
  const ReduceKind kind = op.getKind();
  const bool isMean = kind == ReduceKind::Mean;
  SmallVector<int64_t> shape(type.getShape().take_front(cut.first));
  shape.append({cut.parts, cut.size / cut.parts});
  llvm::append_range(shape, type.getShape().drop_front(cut.end()));
  // `dims` are the dims over which the first reduction runs: all reduced dims
  // of the reshaped input except the dim of the parts. `place` is the index of
  // the dim of the parts in the result of the first reduction.
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
