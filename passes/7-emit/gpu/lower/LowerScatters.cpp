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

/// Replaces one graph.scatter_elements by the ops of applyScatter(). Updates
/// and indices are padded to the shape of the data, except along the scattered
/// dim. The padding has the index −1, which selects no element.
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

/// Converts each index tuple in `indices` to the row-major number of a slice of
/// a tensor of shape `data`. Returns a tensor [1, tuples, 1], with −1 for a
/// tuple out of range. Example: in the shape [4, 5, 8], the tuple (1, 2)
/// selects slice 1 · 5 + 2 = 7.
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

/// Replaces one graph.scatter_nd by the ops of applyScatter(). The data is
/// reshaped to [1, rows, inner], with one row for each slice that an index
/// tuple can select.
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
