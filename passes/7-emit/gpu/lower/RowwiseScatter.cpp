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
/// Builds the ops of one scatter, which applies updates to rows of `data`.
/// Several updates of one row are combined, for example by a sum. The class
/// estimates the costs of three algorithms, and chooses the cheapest one.
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
    // Estimate the costs of three ways to combine the updates of each row of
    // `data`. A cost is the number of operations per row index in `places`. In
    // byPairs and byOrder, the addend `numRows` is the cost of lastOfRow(),
    // which finds the last update of each row.
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
  /// Number of partial results that one iteration of the loop in
  /// combinedInOrder() combines into one. The loop combines updates, for
  /// example by a sum. After the first iteration, each sum has up to 16 terms.
  /// After the second iteration, each sum has up to 16 · 16 = 256 terms.
  static constexpr int64_t radix = 16;

  /// Returns the number of iterations of the loop in combinedInOrder(): the
  /// logarithm of `numUpdates` to base `radix`, rounded up. This is enough even
  /// if all updates apply to one row.
  int64_t numRounds() const {
    int64_t rounds = 0;
    for (int64_t reach = 1; reach < numUpdates; reach *= radix)
      ++rounds;
    return rounds;
  }

  /// Reduces `value` over dim `dim`, and ignores elements where `condition` is
  /// false. The kind of scatter decides the reduction, for example a sum.
  /// `condition` is broadcast to the shape of `value`.
  Value combineWhere(Value condition, Value value, int64_t dim) {
    auto [reduction, neutral] = combinationOf(kind);
    return b.reduce(reduction, b.selectOr(condition, value, neutralOf(neutral)),
                    {dim});
  }

  /// Returns, for each of n rows of the data, the combination of all updates of
  /// the row, as a tensor [outer, n, inner]. For a row without updates, this is
  /// the neutral element (0 for a sum). The callback `at` selects the n rows:
  /// it receives an AllPairs object, and returns a result of one of its
  /// methods. For example, eachPosition(n) selects the rows 0 to n − 1, and
  /// each(t) selects the rows whose indices are in the tensor t.
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

  /// Returns `data` after the last update of each row, and ignores earlier
  /// updates of the row. For ScatterKind::Set, the last update overwrites the
  /// earlier ones anyway. For any other kind, the caller must first replace the
  /// last update of each row by the combination of all updates of the row.
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

  /// Returns the combination of each update with all earlier updates of its
  /// row, by a segmented scan (Hillis and Steele 1986). The updates must be
  /// sorted by row. Each iteration multiplies the number of combined updates by
  /// `radix`.
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
  /// `numRows` is the number of rows of `data`, and `numUpdates` is the number
  /// of updates. `width` is the number of elements of `updates` to which one
  /// row index in `places` applies. Example: `width` is 64 for `updates` [1,
  /// 10, 64] and `places` [1, 10, 1].
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
