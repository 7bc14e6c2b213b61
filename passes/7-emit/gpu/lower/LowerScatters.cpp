//===- LowerScatters.cpp - scatters as reductions over updates ------------===//

#include "passes/7-emit/gpu/lower/LowerScatters.h"
#include "passes/7-emit/gpu/lower/AllPairs.h"
#include "passes/7-emit/gpu/lower/RowwiseScatter.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

/// Returns `indices` as i64. Adds `size`, the size of the indexed dim, to
/// negative indices, which count from its end.
static Value fromFront(LoweringBuilder &b, Value indices, int64_t size) {
  Value index = b.cast(indices, b.getI64Type());
  Value isNegative = b.compare(Predicate::Less, index, b.integer(0));
  return b.make<SelectOp>(isNegative, b.make<AddOp>(index, b.integer(size)),
                          index);
}

/// Replaces one graph.scatter_elements by the ops of applyScatter(). The
/// scatter writes updates to elements of a tensor, the data. Each update has an
/// index. This index is the position of the written element along one dim,
/// `dim`, of the data. Along all other dims, the written element has the same
/// position as the update. Example with `dim` = 0: the update at position (1,
/// 2) has the index 3. It is written to element (3, 2) of the data.
///
/// applyScatter() needs updates and indices that have the same size as the data
/// along all dims except `dim`. Smaller updates are padded with 0, and smaller
/// indices with −1. The index −1 selects no element, so padding has no effect.
/// Example: the data has the shape [4, 5], and `dim` is 0. Updates and indices
/// of shape [2, 3] are padded to [2, 5].
static void lowerScatterElements(ScatterElementsOp op) {
  LoweringBuilder b(op);
  const int64_t dim = op.getDim();
  ArrayRef<int64_t> data = shapeOf(op.getData());
  SmallVector<int64_t> low(data.size(), 0), high(low);
  for (auto [i, size] : llvm::enumerate(shapeOf(op.getIndices())))
    high[i] = static_cast<int64_t>(i) == dim ? 0 : data[i] - size;
  Value places = b.pad(fromFront(b, op.getIndices(), data[dim]), low, high, -1);
  Value updates = b.pad(op.getUpdates(), low, high, 0);
  b.replaceWith(
      applyScatter(b, {op.getKind(), around(b, op.getData(), dim),
                       around(b, places, dim), around(b, updates, dim)}));
}

/// Converts each index tuple of `indices` to the number of a slice. The slices
/// belong to a tensor whose shape is `data`. A tuple holds the indices of one
/// slice along the first dims of this tensor. Slices are numbered from 0 in the
/// order in which the tensor stores them. Example: a tensor of shape [4, 5, 8]
/// has 20 slices of 8 elements. The tuple (1, 2) selects slice 7 = 1 · 5 + 2.
///
/// A negative index counts from the end of its dim. A tuple with an index out
/// of range is converted to −1. The result has the shape [1, T, 1], where T is
/// the number of tuples.
static Value rowsOf(LoweringBuilder &b, Value indices, ArrayRef<int64_t> data) {
  const int64_t depth = shapeOf(indices).back();
  const int64_t tuples =
      ShapedType::getNumElements(shapeOf(indices).drop_back());
  Value flat = b.reshape(indices, {1, tuples, depth});
  Value row = b.broadcast(b.integer(0), {1, tuples, 1});
  for (int64_t i = 0; i < depth; ++i) {
    Value index = fromFront(b,
                            b.make<SliceOp>(flat, ArrayRef<int64_t>{0, 0, i},
                                            ArrayRef<int64_t>{1, tuples, 1},
                                            ArrayRef<int64_t>{1, 1, 1}),
                            data[i]);
    Value isInside =
        b.make<AndOp>(b.compare(Predicate::GreaterOrEqual, index, b.integer(0)),
                      b.compare(Predicate::Less, index, b.integer(data[i])));
    Value next = b.make<AddOp>(b.make<MulOp>(row, b.integer(data[i])), index);
    isInside = b.make<AndOp>(
        isInside, b.compare(Predicate::GreaterOrEqual, row, b.integer(0)));
    row = b.selectOr(isInside, next, -1);
  }
  return row;
}

/// Replaces one graph.scatter_nd. This op applies updates to slices of a
/// tensor, the data. Each update has an index tuple. The tuple holds the
/// indices of one slice along the first dims of the data. Example: the data has
/// the shape [4, 5, 8]. The tuple (1, 2) selects a slice of 8 elements.
///
/// The function reshapes the data to [1, rows, inner], with one row per slice.
/// `rows` is the number of slices, and `inner` is the number of elements of a
/// slice. In the example, the shape is [1, 20, 8], and the tuple (1, 2) selects
/// row 1 · 5 + 2 = 7. applyScatter() then applies the updates to the rows.
static void lowerScatterNd(ScatterNdOp op) {
  LoweringBuilder b(op);
  ArrayRef<int64_t> data = shapeOf(op.getData());
  const int64_t depth = shapeOf(op.getIndices()).back();
  const int64_t rows = ShapedType::getNumElements(data.take_front(depth)),
                slice = ShapedType::getNumElements(data.drop_front(depth));
  Value places = rowsOf(b, op.getIndices(), data);
  Value updates = b.reshape(op.getUpdates(), {1, shapeOf(places)[1], slice});
  b.replaceWith(
      applyScatter(b, {op.getKind(), b.reshape(op.getData(), {1, rows, slice}),
                       places, updates}));
}

int64_t pcc::emit::lowerScatters(func::FuncOp function) {
  return lowerEach(function, lowerScatterElements) +
         lowerEach(function, lowerScatterNd);
}
