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
/// Builds the ops of one scatter. The scatter applies updates to rows of a
/// tensor, `data`. If several updates change one row, they must be combined,
/// for example by a sum. The class can build the ops in three ways:
///
///   - For each row, reduce over all updates of the scatter.
///   - For each update, reduce over all updates of the same row. Then apply the
///     last update of each row.
///   - Sort the updates by row. Combine neighboring updates of the same row.
///     Then apply the last update of each row.
///
/// The class estimates the number of operations, and chooses the cheapest way.
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
    // Several updates of one row must be combined, in one of three ways. Each
    // variable is the estimated cost of one way, in operations per row index in
    // `places`. A row index applies to `width` elements of an update.
    //
    //   byRow     combines all updates of each row
    //   byPairs   sets each update to the combination of all updates of its row
    //   byOrder   sorts the updates, then combines them in numRounds() steps
    //
    // byPairs and byOrder also find the last update of each row. Cost: numRows.
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

  /// Returns the number of iterations of the loop in combinedInOrder(). The
  /// loop combines the updates of each row, for example by a sum. Before the
  /// first iteration, each sum has one term. In each iteration, a new sum is
  /// the sum of up to 16 old sums, where 16 is the value of `radix`. Sums
  /// therefore have up to 16 terms after one iteration, and up to 16 · 16 = 256
  /// terms after two iterations.
  ///
  /// All `numUpdates` updates can apply to one row. The loop ends when sums can
  /// have `numUpdates` terms. Example: if `numUpdates` is 100, the loop has two
  /// iterations, because 16 < 100 and 256 ≥ 100.
  int64_t numRounds() const {
    int64_t rounds = 0;
    for (int64_t reach = 1; reach < numUpdates; reach *= radix)
      ++rounds;
    return rounds;
  }

  /// Reduces `value` over its dim `dim`, and returns the result. The kind of
  /// scatter decides the kind of reduction. ScatterKind::Add, for example,
  /// leads to a sum. `condition` is a tensor of booleans that is broadcast to
  /// the shape of `value`. Elements where `condition` is false are ignored.
  /// Example of a sum:
  ///
  ///   value        5      6       7
  ///   condition    true   false   true
  ///   result       5 + 7 = 12
  Value combineWhere(Value condition, Value value, int64_t dim) {
    auto [reduction, neutral] = combinationOf(kind);
    return b.reduce(reduction, b.selectOr(condition, value, neutralOf(neutral)),
                    {dim});
  }

  /// Combines the updates of each of n rows. Returns a tensor [outer, n,
  /// inner]. A row without updates gets the neutral element (0 for a sum).
  /// Example: updates a, b and c apply to rows 5, 7 and 5. For the rows 5, 6
  /// and 7, the sums are a + c, 0 and b. `at` chooses the n rows. `at` must
  /// return the result of a method of its argument:
  ///
  ///   eachPosition(n)   chooses rows 0 to n − 1
  ///   each(t)           chooses the rows with the indices in the tensor `t` of
  ///                     shape [outer, n, 1] or [outer, n, inner]
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

  /// Applies one update to each row of `data`: the last update of the row in
  /// `updates`. Returns the changed data. The last update is the one with the
  /// largest index. A row without updates stays unchanged. Example: updates 0,
  /// 1 and 2 apply to rows 5, 7 and 5. The function applies update 2 to row 5,
  /// and update 1 to row 7. Update 0 has no effect.
  ///
  /// This is correct for ScatterKind::Set, where only the last update of a row
  /// has an effect. For all other kinds, the caller must first combine the
  /// updates. After that, the last update of a row in `updates` is the
  /// combination of all updates of the row. Example for ScatterKind::Add: the
  /// caller sets update 2 to the sum of updates 0 and 2.
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
  /// row. The updates must be sorted by row. Each iteration combines element u
  /// of `so` with the elements u − reach, u − 2 · reach and so on, `radix`
  /// elements in total, but leaves out other rows. Example for one row of four
  /// updates and `radix` = 2, where ab is the combination of a and b:
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
  ///   width        number of elements of an update per row index in `places`
  ///
  /// `places` holds the index of the row that an update changes. An update is a
  /// vector of elements. There are two cases. If `places` has one row index per
  /// update, all elements of the update change the same row, and `width` is the
  /// number of elements of an update. If `places` has one row index per element
  /// of an update, `width` is 1. Example: an update has 8 elements. `width` is
  /// 8 in the first case and 1 in the second case.
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
