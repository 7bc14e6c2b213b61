//===- LowerSorting.cpp - top-k by rank sort ------------------------------===//

#include "passes/7-emit/gpu/lower/LowerSorting.h"
#include "passes/7-emit/gpu/lower/AllPairs.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

namespace {
/// Order of a top-k: descending if `largest` is true, else ascending. NaN comes
/// before all numbers in both orders.
class SortOrder {
public:
  SortOrder(LoweringBuilder &b, bool largest) : b(b), largest(largest) {}

  /// Returns a boolean tensor that is true where `other` comes before `each` in
  /// sorted order. `standsInFront` is true where `other` comes before `each` in
  /// the input, and decides the order of equal elements and of two NaN.
  Value comesBefore(Value other, Value each, Value standsInFront) {
    Value wins =
        b.compare(largest ? Predicate::Greater : Predicate::Less, other, each);
    Value equal = b.compare(Predicate::Equal, other, each);
    if (isa<FloatType>(tensorType(each).getElementType())) {
      Value isNan = isNanOf(other), eachIsNan = isNanOf(each);
      wins = both(wins, isNan, eachIsNan, /*second=*/false);
      equal = both(equal, isNan, eachIsNan, /*second=*/true);
    }
    return b.make<OrOp>(wins, b.make<AndOp>(equal, standsInFront));
  }

private:
  Value isNanOf(Value value) { return b.make<IsNanOp>(value); }

  /// Returns `condition` extended by a rule for NaN. `condition` is a
  /// comparison of x with y, which is false if x or y is NaN. `nan` is true
  /// where x is NaN, and `otherNan` is true where y is NaN. If `second` is
  /// true, the result is also true where x and y are both NaN. If `second` is
  /// false, the result is also true where x is NaN and y is a number.
  Value both(Value condition, Value nan, Value otherNan, bool second) {
    Value other =
        second ? otherNan : b.make<NotOp>(otherNan.getType(), otherNan);
    return b.make<OrOp>(condition, b.make<AndOp>(nan, other));
  }

  LoweringBuilder &b;
  bool largest;
};
} // namespace

/// Returns the rank of each element along the middle dim: the number of
/// elements before it in sorted order. `value` and the result have the shape
/// [outer, size, inner]. Example: in ascending order, 8 9 7 has the ranks 1 2
/// 0.
static Value ranksOf(LoweringBuilder &b, Value value, bool largest) {
  const int64_t size = shapeOf(value)[1];
  AllPairs pairs(b, shapeOf(value)[2]);
  Value inFront = b.compare(Predicate::Less, pairs.otherPosition(size),
                            pairs.eachPosition(size));
  Value before =
      SortOrder(b, largest)
          .comesBefore(pairs.other(value), pairs.each(value), inFront);
  return pairs.reduce(ReduceKind::Sum, b.indicatorOf(before));
}

/// Returns the indices of the elements with ranks 0 to `count` − 1 along the
/// middle dim. `ranks` has the shape [outer, size, inner], and the result has
/// the shape [outer, count, inner]. Example: the ranks 1 2 0 and `count` = 2
/// give 2 0.
static Value indicesOf(LoweringBuilder &b, Value ranks, int64_t count) {
  AllPairs pairs(b, shapeOf(ranks)[2]);
  Value isMeant = b.compare(Predicate::Equal, pairs.other(ranks),
                            pairs.eachPosition(count));
  Value index = b.make<SelectOp>(
      isMeant, pairs.otherPosition(shapeOf(ranks)[1]), b.integer(0));
  return pairs.reduce(ReduceKind::Sum, index);
}

Value pcc::emit::sortedIndices(LoweringBuilder &b, Value value, bool largest,
                               int64_t count) {
  return indicesOf(b, ranksOf(b, value, largest), count);
}

/// Replaces one graph.topk.
static void lowerTopK(TopKOp op) {
  LoweringBuilder b(op);
  Value value = around(b, op.getInput(), op.getDim());
  Value indices = sortedIndices(b, value, op.getLargest(), op.getK());
  Value values = b.make<GatherElementsOp>(value, indices, uint64_t(1));
  b.replaceWith({values, indices});
}

int64_t pcc::emit::lowerSorting(func::FuncOp function) {
  return lowerEach(function, lowerTopK);
}
