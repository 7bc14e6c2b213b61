//===- CompositeRotary.cpp - rotary embedding from halves -----------------===//
//
//   x · cos + r · sin     with, for x = [a, b] along the last dim,
//                         r = [−b, a],
//   interleaved, for x = [a0, b0, a1, b1, …]:
//                         r = [−b0, a0, −b1, a1, …]
//
// Rotary position embedding (RoPE, Su et al. 2021). x may itself be a slice: a
// part of each head, or the query part of a fused projection.
//
//===----------------------------------------------------------------------===//

#include "passes/2-prepare/composites/Composites.h"
#include "passes/2-prepare/match/RewriteFunctions.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

namespace {
/// A slice of the value `root`. Along dim i, the slice has `sizes[i]` elements.
/// They have these indices in `root`:
///
///   starts[i], starts[i] + steps[i], starts[i] + 2 · steps[i], …
///
/// If no slice op defines a value, the value is a slice of itself.
struct SlicedValue {
  explicit SlicedValue(Value value) : root(value), sizes(shapeOf(value)) {
    starts.assign(sizes.size(), 0);
    steps.assign(sizes.size(), 1);
    auto slice = definedBy<SliceOp>(value);
    if (!slice)
      return;
    root = slice.getInput();
    starts.assign(slice.getStarts().begin(), slice.getStarts().end());
    steps.assign(slice.getSteps().begin(), slice.getSteps().end());
  }

  /// Returns half of this slice along the last dim: every `step`-th element,
  /// from index `first`. For a last dim of size 4, half(1, 2) has the elements
  /// 1 and 3.
  SlicedValue half(int64_t first, int64_t step) const {
    SlicedValue result = *this;
    result.starts.back() += first * steps.back();
    result.sizes.back() /= 2;
    result.steps.back() *= step;
    return result;
  }

  bool operator==(const SlicedValue &other) const {
    return root == other.root && starts == other.starts &&
           sizes == other.sizes && steps == other.steps;
  }

  Value root;
  SmallVector<int64_t> starts, sizes, steps;
};

/// The two halves of a tensor x from which a rotary embedding builds a tensor
/// r. For x = [1, 2, 3, 4], r is [−3, −4, 1, 2] or, interleaved, [−2, 1, −4,
/// 3]. `negated` is the half with a minus sign in r: [3, 4] or [2, 4]. `plain`
/// is the other half.
struct RotatedHalves {
  Value negated, plain;
};
} // namespace

/// If `value` is a concat of −b and a along the last dim, returns b and a.
/// Returns nullopt otherwise.
static std::optional<RotatedHalves> turned(Value value) {
  auto concat = definedBy<ConcatOp>(value);
  if (!concat || concat.getInputs().size() != 2 ||
      concat.getDim() + 1 != shapeOf(value).size())
    return {};
  auto neg = definedBy<NegOp>(concat.getInputs()[0]);
  if (!neg)
    return {};
  return RotatedHalves{neg.getInput(), concat.getInputs()[1]};
}

/// If `value` is a reshape that appends a dim of size 1, returns its operand.
/// Returns null otherwise.
static Value withoutLastDim(Value value) {
  auto reshape = definedBy<ReshapeOp>(value);
  if (!reshape || shapeOf(value).empty() || shapeOf(value).back() != 1 ||
      shapeOf(value).drop_back() != shapeOf(reshape.getInput()))
    return {};
  return reshape.getInput();
}

/// Matches the tensor [−b0, a0, −b1, a1] of an interleaved rotary embedding,
/// and returns b and a. The model must reshape −b and a to a last dim of size
/// 1, concatenate them along this dim, and reshape the result. Returns nullopt
/// for other tensors.
static std::optional<RotatedHalves> matchRotatedPairs(Value value) {
  auto merge = definedBy<ReshapeOp>(value);
  auto concat = merge ? definedBy<ConcatOp>(merge.getInput()) : ConcatOp();
  if (!concat || concat.getInputs().size() != 2 ||
      shapeOf(merge.getInput()).size() != shapeOf(value).size() + 1 ||
      concat.getDim() != shapeOf(value).size())
    return {};
  Value first = withoutLastDim(concat.getInputs()[0]),
        second = withoutLastDim(concat.getInputs()[1]);
  if (!first || !second)
    return {};
  if (auto neg = definedBy<NegOp>(first))
    return RotatedHalves{neg.getInput(), second};
  return {};
}

/// Returns whether `found` holds the two halves of `x` along the last dim. For
/// x = [x0, x1, x2, x3], `found.negated` must be [x2, x3], or [x1, x3] if
/// `interleaved` is true. Returns false if the last dim has an odd size.
static bool isRotated(Value x, const RotatedHalves &found, bool interleaved) {
  int64_t size = shapeOf(x).back(), half = size / 2;
  if (size % 2)
    return false;
  SlicedValue view(x);
  SlicedValue low = interleaved ? view.half(0, 2) : view.half(0, 1),
              high = interleaved ? view.half(1, 2) : view.half(half, 1);
  return SlicedValue(found.negated) == high && SlicedValue(found.plain) == low;
}

/// Returns whether `table` can be broadcast to the shape of `x`. The table
/// holds the cosines or the sines of a rotary embedding. For example, the shape
/// [16, 64] can be broadcast to the shape [2, 8, 16, 64]. The shape [8, 64]
/// cannot.
static bool broadcastsTo(Value table, Value x) {
  auto shape = broadcastShapes(shapeOf(table), shapeOf(x));
  return succeeded(shape) && ArrayRef<int64_t>(*shape) == shapeOf(x);
}

/// Returns the rotary op that replaces `op` = x · cos + r · sin. For x = [x0,
/// x1, x2, x3], r must be [−x2, −x3, x0, x1] or, interleaved, [−x1, x0, −x3,
/// x2]. Returns null for any other r, if cos or sin cannot be broadcast to the
/// shape of x, or if x and `op` differ in type.
static Value makeRotary(AddOp op, Value x, Value cos, Value r, Value sin,
                        PatternRewriter &rewriter) {
  if (x.getType() != op.getType() || shapeOf(x).empty() ||
      !broadcastsTo(cos, x) || !broadcastsTo(sin, x))
    return {};
  for (bool interleaved : {false, true}) {
    auto found = interleaved ? matchRotatedPairs(r) : turned(r);
    if (found && isRotated(x, *found, interleaved))
      return RotaryOp::create(rewriter, op.getLoc(), x, cos, sin, interleaved);
  }
  return {};
}

/// Replaces x · cos + r · sin by a rotary op, in any order of the products and
/// of their factors. The tensor r rearranges x along the last dim and negates
/// half of the elements. Returns null for other sums.
static Value rotary(AddOp op, PatternRewriter &rewriter) {
  auto lhs = definedBy<MulOp>(op.getLhs()), rhs = definedBy<MulOp>(op.getRhs());
  if (!lhs || !rhs)
    return {};
  for (auto [straight, crossed] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
    for (int i : {0, 1})
      for (int j : {0, 1})
        if (Value result = makeRotary(
                op, straight->getOperand(i), straight->getOperand(1 - i),
                crossed->getOperand(j), crossed->getOperand(1 - j), rewriter))
          return result;
  return {};
}

void pcc::prepare::addRotaryPatterns(RewritePatternSet &patterns) {
  addRewrites(patterns, rotary);
}
