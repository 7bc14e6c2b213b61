//===- CompositeAttention.cpp - attention from two matmuls ----------------===//
//
//   w = softmax(mask(scale · q kᵀ));  (w is NaN ? 0 : w) · v
//
// The scale may multiply q, k, both, or the product. A mask is a sum with a
// tensor, a select of a very small number, or a sequence of these. Key heads
// that a broadcast repeats for groups of query heads (grouped-query attention,
// Ainslie et al. 2023) become the smaller operand that attention accepts.
//
// A row without a visible key is NaN after a softmax and zero in attention. The
// composite is therefore correct only if the model replaces NaN by zero, or if
// no row can be hidden entirely (RowMasking.h).
//
//===----------------------------------------------------------------------===//

#include "passes/2-prepare/composites/Composites.h"
#include "passes/2-prepare/composites/RowMasking.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include <cmath>

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Largest fill value (number that replaces a hidden score) that absorbs any
/// score: the sum of the fill value and a score of realistic size is rounded to
/// the fill value.
static constexpr double absorbing = -1e30;
/// Largest fill value (number that replaces a hidden score) for which the
/// hidden score has softmax weight 0 in a row that also has a visible score.
static constexpr double vanishing = -1e9;

namespace {
/// One step of masking the scores, in one of two forms:
///
///   `keep` is null    the tensor `addend` is added to the scores
///   `addend` is null  scores become `fill` where the boolean tensor `keep` is
///                     not `kept`
struct Mask {
  Value addend, keep;
  bool kept = true;
  double fill = 0;
};

/// The operand of a softmax in the form mask(scale · query keyᵀ), where the
/// matmul `product` computes query keyᵀ and mask(…) applies `masks`.
struct Scores {
  MatmulOp product;
  double scale = 1;
  /// The masks, in the reverse order of their application: the mask that is
  /// applied last comes first.
  SmallVector<Mask> masks;
  /// Whether a maximum op replaces scores of -infinity by a very low finite
  /// number, such as -1e30. If so, the softmax of a row whose scores are all
  /// hidden is uniform; otherwise it is NaN.
  bool clipped = false;
};

/// Operands of attention. Each has rank 4: [batch, heads, sequence, head size].
struct Heads {
  Value query, key, value;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reading scores
//===----------------------------------------------------------------------===//

/// Removes multiplications and divisions by uniform numbers (constants whose
/// elements are all equal) from `value`, and applies these numbers to `scale`.
/// For x · 2 / 8 it returns x and multiplies `scale` by 2 / 8.
static Value takeScale(Value value, double &scale) {
  while (true) {
    if (auto mul = definedBy<MulOp>(value)) {
      Value rest = otherOperand(
          mul, [](Value v) { return uniformValue(v).has_value(); });
      if (!rest || rest.getType() != value.getType())
        return value;
      scale *=
          *uniformValue(rest == mul.getLhs() ? mul.getRhs() : mul.getLhs());
      value = rest;
      continue;
    }
    auto div = definedBy<DivOp>(value);
    auto divisor = div ? uniformValue(div.getRhs()) : std::nullopt;
    if (!divisor || div.getLhs().getType() != value.getType())
      return value;
    scale /= *divisor;
    value = div.getLhs();
  }
}

/// If `value` is a cast from a float type that is not wider than the type of
/// `value`, returns the operand of the cast. Otherwise returns `value`.
static Value beforeWidening(Value value) {
  auto cast = definedBy<CastOp>(value);
  if (!cast || !isa<FloatType>(elementTypeOf(cast.getInput())) ||
      elementTypeOf(cast.getInput()).getIntOrFloatBitWidth() >
          elementTypeOf(value).getIntOrFloatBitWidth())
    return value;
  return cast.getInput();
}

static std::optional<Scores> readScores(Value value, int depth);

/// Reads the scores in `value`, and adds `mask` to their list of masks as the
/// mask that is applied last. `result` is the model's tensor after that mask.
/// Returns nullopt if `value` has another form, or if `result` has another
/// shape than `value`, because the mask is larger.
static std::optional<Scores> masked(Value value, Value result, Mask mask,
                                    int depth) {
  if (shapeOf(value) != shapeOf(result))
    return {};
  auto scores = readScores(value, depth);
  if (scores)
    scores->masks.insert(scores->masks.begin(), mask);
  return scores;
}

/// Reads the scores in a select between scores and a uniform number (all
/// elements equal) of at most `vanishing` (-1e9). Where the select chooses the
/// number, the score is hidden. Returns nullopt if the select has another form.
static std::optional<Scores> readSelect(SelectOp op, int depth) {
  for (bool kept : {true, false}) {
    auto fill = uniformValue(kept ? op.getOnFalse() : op.getOnTrue());
    if (!fill || *fill > vanishing)
      continue;
    Mask mask{Value(), op.getCondition(), kept, *fill};
    return masked(kept ? op.getOnTrue() : op.getOnFalse(), op.getResult(), mask,
                  depth);
  }
  return {};
}

/// Reads the scores in a maximum of masked scores and a uniform number (all
/// elements equal) of at most `absorbing` (-1e30). Returns nullopt if the
/// maximum has another form.
static std::optional<Scores> readClip(MaxOp op, int depth) {
  Value value = otherOperand(op, [](Value bound) {
    return uniformValue(bound).value_or(0) <= absorbing;
  });
  auto scores = value && value.getType() == op.getType()
                    ? readScores(value, depth)
                    : std::nullopt;
  if (scores)
    scores->clipped = true;
  return scores;
}

/// Multiplies masked scores by `scale`. The attention op scales before it
/// masks. Therefore the scale of the scores and the fill number of each mask
/// are multiplied. Returns nullopt in these cases:
///
///   - `scale` is not positive
///   - a mask is an added tensor
///   - a scaled fill number is above `vanishing` (-1e9)
static std::optional<Scores> scaled(std::optional<Scores> scores,
                                    double scale) {
  if (!scores || scale <= 0)
    return {};
  for (Mask &mask : scores->masks) {
    mask.fill *= scale;
    if (mask.addend || mask.fill > vanishing)
      return {};
  }
  scores->scale *= scale;
  return scores;
}

/// Matches the ops that compute `value`: a matmul of query and key, followed by
/// at most `depth` masks and scales. Returns nullopt if the ops have another
/// form or if the matmul has other readers.
static std::optional<Scores> readScores(Value value, int depth) {
  value = beforeWidening(value);
  if (depth == 0)
    return {};
  if (auto add = definedBy<AddOp>(value)) {
    for (int i : {0, 1})
      if (auto scores =
              masked(add->getOperand(i), add.getResult(),
                     Mask{add->getOperand(1 - i), Value()}, depth - 1))
        return scores;
    return {};
  }
  if (auto select = definedBy<SelectOp>(value))
    return readSelect(select, depth - 1);
  if (auto clip = definedBy<MaxOp>(value))
    return readClip(clip, depth - 1);
  double scale = 1;
  if (Value rest = takeScale(value, scale); rest != value)
    return scaled(readScores(rest, depth - 1), scale);
  Scores scores;
  scores.product = definedBy<MatmulOp>(value);
  if (!scores.product || !scores.product->hasOneUse())
    return {};
  return scores;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Returns whether `mask` can hide keys or whole rows. A row is the scores of
/// one query and has `rowSize` elements.
static RowMasking rowMaskingOf(const Mask &mask, int64_t rowSize) {
  if (mask.addend)
    return pcc::prepare::rowMaskingOf(mask.addend, rowSize);
  if (mask.kept)
    return pcc::prepare::rowMaskingOf(mask.keep, rowSize);
  auto negated = definedBy<NotOp>(mask.keep);
  return negated ? pcc::prepare::rowMaskingOf(negated.getInput(), rowSize)
                 : RowMasking::Unknown;
}

/// Returns whether the attention op computes the same weights as the model's
/// softmax of the masked scores, also for rows in which every key is hidden.
/// `nanIsZero` is true if the model replaces weights that are NaN by 0.
static bool isSafe(ArrayRef<Mask> masks, bool nanIsZero, int64_t rowSize) {
  RowMasking rows = RowMasking::HideNothing;
  for (const Mask &mask : masks) {
    bool finite = !mask.addend && std::isfinite(mask.fill);
    // Consider a row whose scores are all hidden. The model replaces each score
    // by the fill value, so the softmax is uniform. The attention op adds the
    // fill value to each score. The sums are equal only if the fill value is so
    // low that it absorbs the scores.
    if (finite && mask.fill > absorbing &&
        rowMaskingOf(mask, rowSize) == RowMasking::Unknown)
      return false;
    if (!finite)
      rows = combineMasks(rows, rowMaskingOf(mask, rowSize));
  }
  return nanIsZero || rows != RowMasking::Unknown;
}

/// Builds the mask operand of `graph.attention` from a sequence of masks.
class MaskBuilder {
public:
  MaskBuilder(PatternRewriter &rewriter, Location loc, Type elementType)
      : rewriter(rewriter), loc(loc), elementType(elementType) {}

  /// Returns a boolean mask if the only mask is a select that replaces hidden
  /// scores by -infinity. Otherwise returns the sum of all masks as a float
  /// tensor. Returns null if there are no masks.
  Value build(ArrayRef<Mask> masks) {
    if (masks.size() == 1 && masks[0].keep && std::isinf(masks[0].fill))
      return masks[0].kept ? masks[0].keep
                           : Value(NotOp::create(rewriter, loc, masks[0].keep));
    Value sum;
    for (const Mask &mask : llvm::reverse(masks)) {
      Value addend = converted(asAddend(mask));
      sum = sum ? Value(AddOp::create(rewriter, loc, sum, addend)) : addend;
    }
    return sum;
  }

private:
  /// Returns `mask` as a float tensor to be added to the scores.
  Value asAddend(const Mask &mask) {
    if (mask.addend)
      return mask.addend;
    Value zero = makeScalar(rewriter, loc, elementType, 0),
          fill = makeScalar(rewriter, loc, elementType, mask.fill);
    return SelectOp::create(rewriter, loc, mask.keep, mask.kept ? zero : fill,
                            mask.kept ? fill : zero);
  }

  Value converted(Value addend) {
    if (elementTypeOf(addend) == elementType)
      return addend;
    return CastOp::create(rewriter, loc,
                          RankedTensorType::get(shapeOf(addend), elementType),
                          addend);
  }

  PatternRewriter &rewriter;
  Location loc;
  Type elementType;
};

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// Returns `heads`, with its last two dims transposed if `swapped` is true.
static Value oriented(Value heads, bool swapped, PatternRewriter &rewriter) {
  return swapped ? Value(TransposeOp::create(rewriter, heads.getLoc(), heads,
                                             ArrayRef<int64_t>{0, 1, 3, 2}))
                 : heads;
}

/// Undoes the repetition of key heads in grouped-query attention. If `heads`
/// repeats each of K heads R times by reshape, broadcast and reshape,
///   [B, K, …] → [B, K, 1, …] → [B, K, R, …] → [B, K·R, …]
/// returns the value [B, K, …] before the repetition. Otherwise returns
/// `heads`.
static Value beforeRepeat(Value heads) {
  auto merge = definedBy<ReshapeOp>(heads);
  auto repeat =
      merge ? definedBy<BroadcastOp>(merge.getInput()) : BroadcastOp();
  auto split = repeat ? definedBy<ReshapeOp>(repeat.getInput()) : ReshapeOp();
  if (!split || shapeOf(split.getInput()).size() != 4 ||
      shapeOf(repeat).size() != 5)
    return heads;
  SmallVector<int64_t> single(shapeOf(split.getInput())), merged(single);
  int64_t repeats = shapeOf(repeat)[2];
  single.insert(single.begin() + 2, 1);
  merged[1] *= repeats;
  if (shapeOf(split) != ArrayRef(single) || shapeOf(heads) != ArrayRef(merged))
    return heads;
  single[2] = repeats;
  return shapeOf(repeat) == ArrayRef(single) ? split.getInput() : heads;
}

/// Returns the operands query, key and value of the two matmuls `scores` and
/// `output`. Constant factors of these operands are removed and multiplied into
/// `scale`. Returns nullopt, without creating ops, if attention does not accept
/// the shapes or types.
static std::optional<Heads> readHeads(MatmulOp scores, MatmulOp output,
                                      double &scale) {
  Heads heads{takeScale(scores.getLhs(), scale),
              takeScale(scores.getRhs(), scale), output.getRhs()};
  for (Value value : {heads.query, heads.key, heads.value})
    if (shapeOf(value).size() != 4 ||
        elementTypeOf(value) != elementTypeOf(output))
      return {};
  Value key = beforeRepeat(heads.key), value = beforeRepeat(heads.value);
  if (shapeOf(key)[1] == shapeOf(value)[1])
    heads.key = key, heads.value = value;
  auto batch = shapeOf(heads.query)[0];
  if (shapeOf(heads.key)[0] != batch || shapeOf(heads.value)[0] != batch ||
      shapeOf(heads.key)[1] != shapeOf(heads.value)[1] ||
      shapeOf(heads.query)[1] % shapeOf(heads.key)[1] ||
      shapeOf(output)[0] != batch ||
      shapeOf(output)[1] != shapeOf(heads.query)[1])
    return {};
  return heads;
}

/// Returns whether `mask` can be broadcast to the shape `scores`. Returns false
/// if the mask is larger than `scores` along a dim.
static bool fits(const Mask &mask, ArrayRef<int64_t> scores) {
  auto shape =
      broadcastShapes(shapeOf(mask.addend ? mask.addend : mask.keep), scores);
  return succeeded(shape) && ArrayRef<int64_t>(*shape) == scores;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Returns the softmax from which `weights` is computed, either directly or
/// through a cast and a select that replaces NaN by 0. Sets `nanIsZero` to true
/// if there is a select of this kind. Returns null if there is no softmax, or
/// if other ops read the values between the softmax and `weights`.
static SoftmaxOp readWeights(Value weights, bool &nanIsZero) {
  auto narrowed = definedBy<CastOp>(weights);
  if (narrowed && narrowed->hasOneUse())
    weights = narrowed.getInput();
  auto select = definedBy<SelectOp>(weights);
  if (select) {
    auto test = definedBy<IsNanOp>(select.getCondition());
    nanIsZero = test && isUniform(select.getOnTrue(), 0) &&
                test.getInput() == select.getOnFalse();
    if (!nanIsZero || !select->hasOneUse() || !test->hasOneUse())
      return {};
    weights = select.getOnFalse();
  }
  auto softmax = definedBy<SoftmaxOp>(weights);
  unsigned uses = nanIsZero ? 2 : 1;
  return softmax && softmax.getResult().hasNUses(uses) ? softmax : SoftmaxOp();
}

/// Replaces the second matmul of attention, weights · value, by
/// `graph.attention`. Returns null if the ops do not form an attention.
static Value attention(MatmulOp output, PatternRewriter &rewriter) {
  bool nanIsZero = false;
  SoftmaxOp softmax = output.getTransposeLhs()
                          ? SoftmaxOp()
                          : readWeights(output.getLhs(), nanIsZero);
  if (!softmax || shapeOf(softmax).size() != 4 || softmax.getDim() != 3)
    return {};
  auto scores = readScores(softmax.getInput(), /*depth=*/6);
  if (!scores || scores->product.getTransposeLhs())
    return {};
  auto heads = readHeads(scores->product, output, scores->scale);
  auto shape = shapeOf(softmax);
  if (!heads ||
      !isSafe(scores->masks, nanIsZero && !scores->clipped, shape.back()) ||
      !llvm::all_of(scores->masks,
                    [&](const Mask &mask) { return fits(mask, shape); }))
    return {};
  Value mask = MaskBuilder(rewriter, output.getLoc(), elementTypeOf(output))
                   .build(scores->masks);
  return AttentionOp::create(
      rewriter, output.getLoc(), heads->query,
      oriented(heads->key, !scores->product.getTransposeRhs(), rewriter),
      oriented(heads->value, output.getTransposeRhs(), rewriter), mask,
      APFloat(scores->scale), /*causal=*/false, APFloat(0.0));
}

void pcc::prepare::addAttentionPatterns(RewritePatternSet &patterns) {
  addRewrites(patterns, attention);
}
