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

  /// Compares elements of `other` with elements of `each`. The tensors are
  /// broadcast to one shape, and elements in the same position are compared.
  /// Returns a boolean tensor that is true where the element of `other` comes
  /// before the element of `each` in sorted order. Two equal elements, or two
  /// NaN, are sorted by their positions in the input of the sort.
  /// `standsInFront` is a boolean tensor that is true where the element of
  /// `other` comes before the element of `each` in the input.
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

  /// Adds the rules for NaN to a comparison of elements x with elements y. In
  /// sorted order, NaN comes before all numbers, and two NaN are equal.
  /// `condition` is the result of the comparison, a tensor that is false where
  /// x or y is NaN. `nan` is true where x is NaN. `otherNan` is true where y is
  /// NaN. Returns `condition`, but with true also in this case:
  ///
  ///   second   comparison         case with NaN
  ///   false    x comes before y   x is NaN, and y is not NaN
  ///   true     x equals y         x and y are NaN
  Value both(Value condition, Value nan, Value otherNan, bool second) {
    Value other =
        second ? otherNan : b.make<NotOp>(otherNan.getType(), otherNan);
    return b.make<OrOp>(condition, b.make<AndOp>(nan, other));
  }

  LoweringBuilder &b;
  bool largest;
};
} // namespace

/// Returns the rank of each element of `value`. The rank of an element is the
/// number of elements before the element in sorted order. The order is
/// descending if `largest` is true, else ascending. Example for an ascending
/// order:
///
///   values   8 9 7
///   ranks    1 2 0
///
/// `value` and the result have the shape [outer, size, inner]. Two elements are
/// compared only if their indices along the first and the last dim are equal.
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

/// Returns the indices of the first `count` elements in sorted order. `ranks`
/// has the shape [outer, size, inner] and holds ranks along the middle dim. The
/// rank of an element is the number of elements before it in sorted order.
/// Element i of the result is the index of the element with rank i. The result
/// has the shape [outer, count, inner]. Example with `count` = 2:
///
///   sorted values   7 8 9
///   values          8 9 7
///   ranks           1 2 0
///   result          2 0
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
