//===- LowerScatters.cpp - scatters by comparing places -------------------===//
//
// Data and updates are [outer, rows, inner] and [outer, updates, inner], places
// likewise or 1 along a dim in which they do not differ. Of the updates of a
// row the last one is found first:
//
//   last[r] = max over u of (place[u] == r ? u : -1)
//
// Where rows are few, updates are combined per row. Where there are more rows
// than updates, each update is combined with those of the same place instead,
// and a row takes what its last one has come to.
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/gpu/LowerScatters.h"
#include "dialects/graph/Numbers.h"
#include "passes/7-emit/gpu/Pairs.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

static ReduceKind reductionOf(ScatterKind kind) {
  switch (kind) {
  case ScatterKind::Mul:
    return ReduceKind::Prod;
  case ScatterKind::Set:
  case ScatterKind::Max:
    return ReduceKind::Max;
  case ScatterKind::Min:
    return ReduceKind::Min;
  case ScatterKind::Add:
    return ReduceKind::Sum;
  }
  llvm_unreachable("unknown kind of scatter");
}

static double neutralOf(ScatterKind kind) {
  switch (kind) {
  case ScatterKind::Mul:
    return graph::neutralOf(FactorKind::Prod);
  case ScatterKind::Set:
  case ScatterKind::Max:
    return graph::neutralOf(FactorKind::Max);
  case ScatterKind::Min:
    return graph::neutralOf(FactorKind::Min);
  case ScatterKind::Add:
    return graph::neutralOf(FactorKind::Sum);
  }
  llvm_unreachable("unknown kind of scatter");
}

static Value combine(Replacement &b, ScatterKind kind, Value old,
                     Value update) {
  switch (kind) {
  case ScatterKind::Mul:
    return b.make<MulOp>(old, update);
  case ScatterKind::Max:
    return b.make<MaxOp>(old, update);
  case ScatterKind::Min:
    return b.make<MinOp>(old, update);
  case ScatterKind::Add:
    return b.make<AddOp>(old, update);
  case ScatterKind::Set:
    return update;
  }
  llvm_unreachable("unknown kind of scatter");
}

//===----------------------------------------------------------------------===//
// Scatters around one dim
//===----------------------------------------------------------------------===//

namespace {
class Scatter {
public:
  Scatter(Replacement &b, ScatterKind kind, Value data, Value places,
          Value updates)
      : b(b), kind(kind), data(data), places(places), updates(updates),
        numRows(shapeOf(data)[1]), numUpdates(shapeOf(updates)[1]) {}

  Value build() {
    Type element = tensorType(data).getElementType();
    const bool adds = kind == ScatterKind::Add || kind == ScatterKind::Mul;
    Type computed = adds ? sumType(element) : element;
    data = b.cast(data, computed);
    updates = b.cast(updates, computed);
    const bool isByRow = kind != ScatterKind::Set && numRows <= numUpdates;
    return b.cast(isByRow ? combinedByRow() : takenFromLast(), element);
  }

private:
  /// What the updates of each place in `at` come to, [outer, places, inner].
  Value together(function_ref<Value(Pairs &)> at) {
    Pairs pairs(b, shapeOf(updates)[2]);
    Value isHere = b.compare(Predicate::Equal, pairs.other(places), at(pairs));
    return pairs.reduce(
        reductionOf(kind),
        b.selectOr(isHere, pairs.other(updates), neutralOf(kind)));
  }

  Value combinedByRow() {
    Value all =
        together([&](Pairs &pairs) { return pairs.eachPosition(numRows); });
    return combine(b, kind, data, all);
  }

  /// The last update of each row, -1 where there is none.
  Value lastOfRow() {
    Pairs pairs(b, shapeOf(places)[2]);
    Value isHere = b.compare(Predicate::Equal, pairs.other(places),
                             pairs.eachPosition(numRows));
    return pairs.reduce(ReduceKind::Max,
                        b.make<SelectOp>(isHere,
                                         pairs.otherPosition(numUpdates),
                                         b.integer(-1)));
  }

  Value takenFromLast() {
    Value all = updates;
    if (kind != ScatterKind::Set)
      all = together([&](Pairs &pairs) { return pairs.each(places); });
    Value last = lastOfRow();
    Value row = b.broadcast(b.make<MaxOp>(last, b.integer(0)), shapeOf(data));
    Value taken = b.make<GatherElementsOp>(all, row, uint64_t(1));
    return b.make<SelectOp>(
        b.compare(Predicate::GreaterOrEqual, last, b.integer(0)),
        combine(b, kind, data, taken), data);
  }

  Replacement &b;
  ScatterKind kind;
  Value data, places, updates;
  int64_t numRows, numUpdates;
};
} // namespace

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Indices of a dim of `size`, counted from the front.
static Value fromFront(Replacement &b, Value indices, int64_t size) {
  Value index = b.cast(indices, b.getI64Type());
  Value isNegative = b.compare(Predicate::Less, index, b.integer(0));
  return b.make<SelectOp>(isNegative, b.make<AddOp>(index, b.integer(size)),
                          index);
}

/// Places and updates as wide as the data along all dims but `dim`: elsewhere
/// nothing is written.
static void lowerScatterElements(ScatterElementsOp op) {
  Replacement b(op);
  const int64_t dim = op.getDim();
  ArrayRef<int64_t> data = shapeOf(op.getData());
  SmallVector<int64_t> low(data.size(), 0), high(low);
  for (auto [i, size] : llvm::enumerate(shapeOf(op.getIndices())))
    high[i] = static_cast<int64_t>(i) == dim ? 0 : data[i] - size;
  Value places = b.pad(fromFront(b, op.getIndices(), data[dim]), low, high, -1);
  Value updates = b.pad(op.getUpdates(), low, high, 0);
  b.replaceWith(Scatter(b, op.getKind(), around(b, op.getData(), dim),
                        around(b, places, dim), around(b, updates, dim))
                    .build());
}

/// The row that each index tuple names, [1, tuples, 1].
static Value rowsOf(Replacement &b, Value indices, ArrayRef<int64_t> data) {
  const int64_t depth = shapeOf(indices).back();
  const int64_t tuples =
      ShapedType::getNumElements(shapeOf(indices).drop_back());
  Value flat = b.reshape(indices, {1, tuples, depth}), row = b.integer(0);
  for (int64_t i = 0; i < depth; ++i) {
    Value index = b.make<SliceOp>(flat, ArrayRef<int64_t>{0, 0, i},
                                  ArrayRef<int64_t>{1, tuples, 1},
                                  ArrayRef<int64_t>{1, 1, 1});
    row = b.make<AddOp>(b.make<MulOp>(row, b.integer(data[i])),
                        fromFront(b, index, data[i]));
  }
  return depth == 0 ? b.broadcast(row, {1, tuples, 1}) : row;
}

static void lowerScatterNd(ScatterNdOp op) {
  Replacement b(op);
  ArrayRef<int64_t> data = shapeOf(op.getData());
  const int64_t depth = shapeOf(op.getIndices()).back();
  const int64_t rows = ShapedType::getNumElements(data.take_front(depth)),
                slice = ShapedType::getNumElements(data.drop_front(depth));
  Value places = rowsOf(b, op.getIndices(), data);
  Value updates = b.reshape(op.getUpdates(), {1, shapeOf(places)[1], slice});
  b.replaceWith(Scatter(b, op.getKind(),
                        b.reshape(op.getData(), {1, rows, slice}), places,
                        updates)
                    .build());
}

int64_t pcc::emit::lowerScatters(func::FuncOp function) {
  return lowerEach(function, lowerScatterElements) +
         lowerEach(function, lowerScatterNd);
}
