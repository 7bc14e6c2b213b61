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

  /// Returns one half of this slice along the last dim. It has the elements
  /// `first`, `first` + `step`, `first` + 2 · `step`, … of the slice.
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

/// The parts b and a of a tensor r = [−b, a]: `negated` is b, and `plain` is a.
/// A rotary embedding computes r from x = [a, b].
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

/// Matches the tensor [−b0, a0, −b1, a1, …], which an interleaved rotary
/// embedding reads. A concat must join −b and a, each of shape […, n, 1], to
/// […, n, 2]. A reshape to […, 2n] must follow. Returns b and a; nullopt if
/// `value` has another form.
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

/// Returns whether `found` holds the two halves of `x` along the last dim. A
/// rotary embedding negates one half and keeps the other one plain:
///
///   form          negated                  plain
///   interleaved   elements at odd indices  elements at even indices
///   split         high half                low half
static bool isRotated(Value x, const RotatedHalves &found, bool interleaved) {
  int64_t size = shapeOf(x).back(), half = size / 2;
  if (size % 2)
    return false;
  SlicedValue view(x);
  SlicedValue low = interleaved ? view.half(0, 2) : view.half(0, 1),
              high = interleaved ? view.half(1, 2) : view.half(half, 1);
  return SlicedValue(found.negated) == high && SlicedValue(found.plain) == low;
}

/// Returns whether `table` (cos or sin), broadcast together with `x`, has the
/// shape of `x`.
static bool broadcastsTo(Value table, Value x) {
  auto shape = broadcastShapes(shapeOf(table), shapeOf(x));
  return succeeded(shape) && ArrayRef<int64_t>(*shape) == shapeOf(x);
}

/// Creates the rotary op that replaces `op` = x · cos + r · sin. For x =
/// [a, b], r must be [−b, a], or the interleaved form of it. Returns null for
/// another r, or if cos or sin does not broadcast to the shape of x.
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

/// Replaces x · cos + r · sin by a rotary op. For x = [a, b], r must be
/// [−b, a], or the interleaved form of it. Tries every assignment of the four
/// factors to x, cos, r and sin. Returns null if none fits.
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
