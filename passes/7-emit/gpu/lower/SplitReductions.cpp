//===- SplitReductions.cpp - two-stage reductions of long rows ------------===//

#include "passes/7-emit/gpu/lower/SplitReductions.h"
#include "passes/7-emit/gpu/lower/LoweringBuilder.h"
#include "passes/7-emit/kernel/Plan.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

namespace {
/// Limits, in elements, for splitting a reduction. A row is a set of elements
/// that are reduced together:
///
///   row    longest row that is reduced without a split
///   part   longest part of a row after a split
struct Lengths {
  int64_t row, part;
};
/// Split of a reduction into parts that are reduced separately. `count`
/// neighboring reduced dims from dim `first` on become the two dims [parts,
/// size / parts]. `size` is the product of the sizes of these `count` dims. For
/// example, [8, 64, 32] with the reduced dims 1 and 2 becomes [8, 4, 512] if
/// `first` is 1, `count` is 2 and `parts` is 4.
struct Cut {
  int64_t first = 0, count = 0, size = 0, parts = 0;
  int64_t end() const { return first + count; }
};
} // namespace

/// Limits, in elements, for splitting a reduction. A row is a set of elements
/// that are reduced together. A row longer than `row` may be divided into parts
/// of at most `part` elements. `across` has the limits for columns, which are
/// rows of elements that are strided in memory. `along` has the limits for all
/// other rows. The limits for columns are lower, because at most 8 GPU threads
/// reduce a column, and at most 1024 GPU threads reduce any other row.
static constexpr Lengths along = {1 << 16, 1 << 14}, across = {1 << 11, 1 << 9};

/// Returns the run of neighboring reduced dims with the most elements. Leaves
/// the field `parts` of the result at 0. `dims` are all reduced dims of a
/// tensor of shape `shape`, in ascending order.
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

/// Returns how to split each row (set of elements reduced together) of `op`
/// into equal parts. Returns std::nullopt if one block of GPU threads suffices
/// for a row. Also returns std::nullopt if a part would have fewer than 16
/// elements.
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
  // Two reductions replace a split reduction. The first one reduces each part
  // of a row. The second one reduces the results of all parts of the row. If a
  // part has few elements, the second reduction is almost as expensive as the
  // first one. Example: for parts of 2 elements, the second reduction reads
  // half as many elements as the first one. Therefore, do not split rows into
  // parts of fewer than 16 elements.
  constexpr int64_t shortest = 16;
  if (cut.parts > length / shortest)
    return std::nullopt;
  return cut;
}

/// Returns whether a reduction of `kind` adds or multiplies elements. Returns
/// true for a sum, a mean or a product. In bf16 or f16, each addition and each
/// multiplication rounds its result. A maximum or a minimum never rounds.
static bool isAddedUp(ReduceKind kind) {
  return kind == ReduceKind::Sum || kind == ReduceKind::Mean ||
         kind == ReduceKind::Prod;
}

/// Replaces `op` by two reductions. The first one reduces each part of a row
/// (set of elements reduced together), and the second one combines the parts of
/// each row. A mean becomes a sum, then a mean that divides by the number of
/// elements of the whole row.
static void split(ReduceOp op, const Cut &cut) {
  LoweringBuilder b(op);
  auto type = tensorType(op.getInput());
  const ReduceKind kind = op.getKind();
  const bool isMean = kind == ReduceKind::Mean;
  SmallVector<int64_t> shape(type.getShape().take_front(cut.first));
  shape.append({cut.parts, cut.size / cut.parts});
  llvm::append_range(shape, type.getShape().drop_front(cut.end()));
  // The first reduction runs over the dims `dims` of the reshaped input. The
  // second one runs over dim `place` of the first one's result, the dim of the
  // parts.
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
