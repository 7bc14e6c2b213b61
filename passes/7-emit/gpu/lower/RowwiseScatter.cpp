//===- RowwiseScatter.cpp - scatter of updates into the rows of a tensor --===//
//
// There are three ways to combine the updates of one place. The cheapest one is
// chosen:
//
//   by row     each row reduces over all updates
//   by pairs   each update is combined with all updates of its place, by a
//              reduction over all updates; then each row takes its last update
//   in order   updates are sorted by place and combined by a segmented scan
//              (as in Hillis and Steele 1986, but with `radix` terms per
//              round); then each row takes its last update
//
// The last update of row r is
//
//   last[r] = max over u of (place[u] == r ? u : -1)
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
/// Reduction by which a scatter combines several updates of one element, and
/// the neutral element of this reduction (0 for a sum).
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

/// Returns `old`, the elements of a tensor before a scatter, with `update`
/// applied to them: old + update for ScatterKind::Add, `update` for
/// ScatterKind::Set.
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
/// Builds the ops of one scatter, which applies updates to rows of `data`. If
/// several updates change one row, they must be combined. The start of this
/// file explains three ways to do so; the class chooses the cheapest one.
class RowUpdates : RowwiseScatter {
public:
  RowUpdates(LoweringBuilder &b, RowwiseScatter rows)
      : RowwiseScatter(rows), b(b), numRows(shapeOf(data)[1]),
        numUpdates(shapeOf(updates)[1]),
        width(shapeOf(updates)[2] / shapeOf(places)[2]) {}

  /// Returns `data` after the updates of the scatter.
  Value build() {
    if (kind == ScatterKind::Set)
      return taken();
    // Estimate the number of operations per update, for each of three ways to
    // combine updates (see the start of this file).
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
  /// Number of elements that each iteration of the loop in combinedInOrder()
  /// reduces to one. With 16, a result combines up to 16 updates after the
  /// first iteration, and up to 16 · 16 = 256 updates after the second one.
  static constexpr int64_t radix = 16;

  /// Returns the number of iterations of the loop in combinedInOrder(). After n
  /// iterations, each element of the result combines up to `radix` to the power
  /// of n updates. The loop ends when this power is at least `numUpdates`,
  /// because all updates can apply to one row. Example: 100 updates with radix
  /// 16 take 2 iterations, because 16 < 100 and 16 · 16 = 256 ≥ 100.
  int64_t numRounds() const {
    int64_t rounds = 0;
    for (int64_t reach = 1; reach < numUpdates; reach *= radix)
      ++rounds;
    return rounds;
  }

  /// Returns the reduction of `value` over dim `dim` by which the scatter
  /// combines updates, such as a sum for ScatterKind::Add. Ignores elements for
  /// which `condition` is false.
  Value combineWhere(Value condition, Value value, int64_t dim) {
    auto [reduction, neutral] = combinationOf(kind);
    return b.reduce(reduction, b.selectOr(condition, value, neutralOf(neutral)),
                    {dim});
  }

  /// Returns a tensor [outer, n, inner]. Element i of the middle dim combines
  /// all updates of one row of the data, for example by a sum for
  /// ScatterKind::Add. `at` returns the index of this row for each i, in a
  /// tensor that broadcasts to all pairs of an i and an update.
  ///
  /// Example: updates a, b and c apply to rows 5, 7 and 5. If `at` returns the
  /// row indices 5, 6 and 7, the sums are a + c, 0 and b.
  Value together(function_ref<Value(AllPairs &)> at) {
    AllPairs pairs(b, shapeOf(updates)[2]);
    auto [reduction, neutral] = combinationOf(kind);
    Value isHere = b.compare(Predicate::Equal, pairs.other(places), at(pairs));
    return pairs.reduce(reduction, b.selectOr(isHere, pairs.other(updates),
                                              neutralOf(neutral)));
  }

  /// Returns `data` after all updates. For each row of `data`, one reduction
  /// runs over all updates of the scatter. In this reduction, the neutral
  /// element (0 for a sum) replaces each update that applies to another row.
  Value combinedByRow() {
    Value all =
        together([&](AllPairs &pairs) { return pairs.eachPosition(numRows); });
    return combine(b, kind, data, all);
  }

  /// Returns, for each row of the data, the index of the last update that
  /// changes it. The index is −1 for a row without updates.
  Value lastOfRow() {
    AllPairs pairs(b, shapeOf(places)[2]);
    Value isHere = b.compare(Predicate::Equal, pairs.other(places),
                             pairs.eachPosition(numRows));
    Value number = b.make<SelectOp>(isHere, pairs.otherPosition(numUpdates),
                                    b.integer(-1));
    return pairs.reduce(ReduceKind::Max, number);
  }

  /// Applies one update to each row of `data`, and returns the result. For each
  /// row, chooses the update with the largest index among the updates that
  /// apply to the row. Rows without updates stay unchanged.
  ///
  /// For ScatterKind::Set, this is the result of the scatter. For all other
  /// kinds, build() first changes `updates`: the chosen update of each row then
  /// contains the combination (for example the sum) of all updates of this row.
  Value taken() {
    Value last = lastOfRow();
    Value number =
        b.broadcast(b.make<MaxOp>(last, b.integer(0)), shapeOf(data));
    Value update = b.make<GatherElementsOp>(updates, number, uint64_t(1));
    return b.make<SelectOp>(
        b.compare(Predicate::GreaterOrEqual, last, b.integer(0)),
        combine(b, kind, data, update), data);
  }

  /// Sorts `updates` and `places` by place (index of the updated row). The sort
  /// is stable.
  void sort() {
    Value order = sortedIndices(b, places, /*largest=*/false, numUpdates);
    places = b.make<GatherElementsOp>(places, order, uint64_t(1));
    updates = b.make<GatherElementsOp>(
        updates, b.broadcast(order, shapeOf(updates)), uint64_t(1));
  }

  /// Returns each update combined with all earlier updates of its row. Updates
  /// must be sorted by row. The loop is a prefix sum (scan) that restarts at
  /// each row.
  ///
  /// Invariant: element u of `so` combines the last `reach` updates of its row,
  /// up to update u. Example for updates a to d of one row, with radix 2:
  ///
  ///   reach 1   a   b   c   d
  ///   reach 2   a   ab  bc  cd
  ///   reach 4   a   ab  abc abcd
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
  /// Sizes of the scatter:
  ///
  ///   numRows      number of rows of `data`
  ///   numUpdates   number of updates
  ///   width        number of elements of an update that share one row index
  ///
  /// If `places` has one row index per update, `width` is the number of
  /// elements of an update. If `places` has one row index per element, `width`
  /// is 1.
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
