//===- RowwiseScatter.cpp - what the rows of a scatter come to ------------===//
//
// Few rows look at all updates. Where there are more, updates of the same place
// are combined first, and a row takes what its last one has come to:
//
//   last[r] = max over u of (place[u] == r ? u : -1)
//
// They are combined in pairs, or, if they are large, in the order of their
// places: there those of a place are neighbours, and a few rounds suffice, of
// which each combines `radix` times as many.
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/gpu/lower/RowwiseScatter.h"
#include "dialects/graph/ScalarAttr.h"
#include "passes/7-emit/gpu/lower/AllPairs.h"
#include "passes/7-emit/gpu/lower/LowerSorting.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

namespace {
/// How updates of the same place are combined.
struct Combination {
  ReduceKind reduction;
  FactorKind neutral;
};
} // namespace

static Combination combinationOf(ScatterKind kind) {
  switch (kind) {
  case ScatterKind::Add:
    return {ReduceKind::Sum, FactorKind::Sum};
  case ScatterKind::Mul:
    return {ReduceKind::Prod, FactorKind::Prod};
  case ScatterKind::Min:
    return {ReduceKind::Min, FactorKind::Min};
  case ScatterKind::Max:
  case ScatterKind::Set:
    return {ReduceKind::Max, FactorKind::Max};
  }
  llvm_unreachable("unknown kind of scatter");
}

static Value combine(LoweringBuilder &b, ScatterKind kind, Value old,
                     Value update) {
  switch (kind) {
  case ScatterKind::Add:
    return b.make<AddOp>(old, update);
  case ScatterKind::Mul:
    return b.make<MulOp>(old, update);
  case ScatterKind::Min:
    return b.make<MinOp>(old, update);
  case ScatterKind::Max:
    return b.make<MaxOp>(old, update);
  case ScatterKind::Set:
    return update;
  }
  llvm_unreachable("unknown kind of scatter");
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
class RowUpdates : RowwiseScatter {
public:
  RowUpdates(LoweringBuilder &b, RowwiseScatter rows)
      : RowwiseScatter(rows), b(b), numRows(shapeOf(data)[1]),
        numUpdates(shapeOf(updates)[1]),
        width(shapeOf(updates)[2] / shapeOf(places)[2]) {}

  Value build() {
    if (kind == ScatterKind::Set)
      return taken();
    const int64_t byRow = numRows * width,
                  byPairs = numUpdates * width + numRows,
                  byOrder =
                      2 * numUpdates + numRounds() * radix * width + numRows;
    if (byRow <= std::min(byPairs, byOrder))
      return combinedByRow();
    if (byPairs <= byOrder) {
      updates = together([&](AllPairs &pairs) { return pairs.each(places); });
    } else {
      sort();
      updates = combinedInOrder();
    }
    return taken();
  }

private:
  static constexpr int64_t radix = 16;

  int64_t numRounds() const {
    int64_t rounds = 0;
    for (int64_t reach = 1; reach < numUpdates; reach *= radix)
      ++rounds;
    return rounds;
  }

  /// `value` where it holds, combined along `dim`.
  Value combineWhere(Value condition, Value value, int64_t dim) {
    auto [reduction, neutral] = combinationOf(kind);
    return b.reduce(reduction, b.selectOr(condition, value, neutralOf(neutral)),
                    {dim});
  }

  /// What the updates of each place in `at` come to, [outer, places, inner].
  Value together(function_ref<Value(AllPairs &)> at) {
    AllPairs pairs(b, shapeOf(updates)[2]);
    auto [reduction, neutral] = combinationOf(kind);
    Value isHere = b.compare(Predicate::Equal, pairs.other(places), at(pairs));
    return pairs.reduce(reduction, b.selectOr(isHere, pairs.other(updates),
                                              neutralOf(neutral)));
  }

  Value combinedByRow() {
    Value all =
        together([&](AllPairs &pairs) { return pairs.eachPosition(numRows); });
    return combine(b, kind, data, all);
  }

  /// The last update of each row, -1 where there is none.
  Value lastOfRow() {
    AllPairs pairs(b, shapeOf(places)[2]);
    Value isHere = b.compare(Predicate::Equal, pairs.other(places),
                             pairs.eachPosition(numRows));
    Value number = b.make<SelectOp>(isHere, pairs.otherPosition(numUpdates),
                                    b.integer(-1));
    return pairs.reduce(ReduceKind::Max, number);
  }

  /// The data, combined with the last update of each row.
  Value taken() {
    Value last = lastOfRow();
    Value number =
        b.broadcast(b.make<MaxOp>(last, b.integer(0)), shapeOf(data));
    Value update = b.make<GatherElementsOp>(updates, number, uint64_t(1));
    return b.make<SelectOp>(
        b.compare(Predicate::GreaterOrEqual, last, b.integer(0)),
        combine(b, kind, data, update), data);
  }

  /// Brings the updates of a place next to each other.
  void sort() {
    Value order = sortedIndices(b, places, /*largest=*/false, numUpdates);
    places = b.make<GatherElementsOp>(places, order, uint64_t(1));
    updates = b.make<GatherElementsOp>(
        updates, b.broadcast(order, shapeOf(updates)), uint64_t(1));
  }

  /// Each sorted update combined with those of its place in front of it.
  /// Invariant: update u has been combined with those from u - reach + 1 on.
  ///   radix 2:  a b c d   a ab bc cd   a ab abc abcd
  Value combinedInOrder() {
    Value so = updates;
    for (int64_t reach = 1; reach < numUpdates; reach *= radix) {
      Value at = b.make<SubOp>(
          b.positions(numUpdates, 1, 2),
          b.make<MulOp>(b.positions(radix, 0, 2), b.integer(reach)));
      Value inside =
          b.reshape(b.compare(Predicate::GreaterOrEqual, at, b.integer(0)),
                    {radix, numUpdates, 1});
      at = b.make<MaxOp>(at, b.integer(0));
      Value isSame =
          b.compare(Predicate::Equal, b.make<GatherOp>(places, at, uint64_t(1)),
                    b.reshape(places, {shapeOf(places)[0], 1, numUpdates,
                                       shapeOf(places)[2]}));
      so = combineWhere(b.make<AndOp>(isSame, inside),
                        b.make<GatherOp>(so, at, uint64_t(1)), 1);
    }
    return so;
  }

  LoweringBuilder &b;
  int64_t numRows, numUpdates, width;
};
} // namespace

Value pcc::emit::applyScatter(LoweringBuilder &b, RowwiseScatter rows) {
  if (tensorType(rows.updates).getNumElements() == 0)
    return rows.data;
  Type element = tensorType(rows.data).getElementType();
  const bool rounds =
      rows.kind == ScatterKind::Add || rows.kind == ScatterKind::Mul;
  Type computed = rounds ? sumType(element) : element;
  rows.data = b.cast(rows.data, computed);
  rows.updates = b.cast(rows.updates, computed);
  return b.cast(RowUpdates(b, rows).build(), element);
}
