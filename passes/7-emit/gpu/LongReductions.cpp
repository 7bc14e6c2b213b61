//===- LongReductions.cpp - rows that are too long for one block ----------===//

#include "passes/7-emit/gpu/LongReductions.h"
#include "passes/7-emit/KernelPlan.h"
#include "passes/7-emit/gpu/Replacement.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

namespace {
/// Elements of a row that one block may reduce, and of a part, at most.
struct Lengths {
  int64_t row, part;
};
/// Neighbouring reduced dims, `first` on, which become [parts, size / parts].
struct Cut {
  int64_t first = 0, count = 0, size = 0, parts = 0;
};
} // namespace

/// A block has 1024 threads for a row along memory, and 8 for one across it.
static constexpr Lengths along = {1 << 16, 1 << 14}, across = {1 << 11, 1 << 9};

/// The neighbours among the reduced dims that have most elements.
static Cut largestNeighbours(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  Cut largest, now;
  for (int64_t dim : dims) {
    if (now.count == 0 || dim != now.first + now.count)
      now = {dim, 0, 1};
    ++now.count;
    now.size *= shape[dim];
    if (now.size > largest.size)
      largest = now;
  }
  return largest;
}

/// The smallest divisor of `size` that is at least `least`.
static int64_t divisorFrom(int64_t size, int64_t least) {
  int64_t found = size;
  for (int64_t divisor = 1; divisor * divisor <= size; ++divisor)
    if (size % divisor == 0)
      for (int64_t one : {divisor, size / divisor})
        if (one >= least)
          found = std::min(found, one);
  return found;
}

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
  // What has no such divisors would only be read once more.
  constexpr int64_t shortest = 16;
  if (cut.parts > length / shortest)
    return std::nullopt;
  return cut;
}

static bool isAddedUp(ReduceKind kind) {
  return kind == ReduceKind::Sum || kind == ReduceKind::Mean ||
         kind == ReduceKind::Prod;
}

static void split(ReduceOp op, const Cut &cut) {
  Replacement b(op);
  const Type element = tensorType(op.getInput()).getElementType();
  Value value = op.getInput();
  if (isAddedUp(op.getKind()))
    value = b.cast(value, sumType(element));
  SmallVector<int64_t> shape(shapeOf(value)), dims;
  shape[cut.first] = cut.parts;
  shape.erase(shape.begin() + cut.first + 1,
              shape.begin() + cut.first + cut.count);
  shape.insert(shape.begin() + cut.first + 1, cut.size / cut.parts);
  for (int64_t dim : op.getDims())
    if (dim < cut.first)
      dims.push_back(dim);
  const int64_t place = cut.first - static_cast<int64_t>(dims.size());
  dims.push_back(cut.first + 1);
  for (int64_t dim : op.getDims())
    if (dim >= cut.first + cut.count)
      dims.push_back(dim + 2 - cut.count);
  const bool isMean = op.getKind() == ReduceKind::Mean;
  Value parts = b.reduce(isMean ? ReduceKind::Sum : op.getKind(),
                         b.reshape(value, shape), dims);
  const int64_t elements = rowSpaceOf(op)->innerSize();
  const auto divisor = b.getI64IntegerAttr(
      static_cast<int64_t>(op.getDivisor().value_or(elements)));
  Value whole =
      b.make<ReduceOp>(op.getKind(), parts, ArrayRef<int64_t>(place),
                       /*keep=*/false, isMean ? divisor : IntegerAttr());
  b.replaceWith(b.cast(whole, element));
}

int64_t pcc::emit::splitLongReductions(func::FuncOp function) {
  int64_t numSplit = 0;
  for (ReduceOp op : SmallVector<ReduceOp>(function.getOps<ReduceOp>()))
    if (const auto cut = cutOf(op)) {
      split(op, *cut);
      ++numSplit;
    }
  return numSplit;
}
