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

/// Fill value of hidden scores at and below which the sum of fill and score
/// rounds to the fill, for every score of realistic size.
static constexpr double absorbing = -1e30;
/// Fill value of hidden scores at and below which their softmax weight is 0
/// next to any visible score.
static constexpr double vanishing = -1e9;

namespace {
/// One step of masking. If `keep` is null, adds `addend` to the scores.
/// Otherwise `addend` is null, and scores stay where the boolean `keep` equals
/// `kept` and become `fill` elsewhere.
struct Mask {
  Value addend, keep;
  bool kept = true;
  double fill = 0;
};

/// The operand of a softmax as mask(scale · product of query and key).
struct Scores {
  MatmulOp product;
  double scale = 1;
  /// The masks, in the reverse order of application.
  SmallVector<Mask> masks;
  /// Whether a maximum turns -inf into a very small number, so that a hidden
  /// row is uniform rather than NaN.
  bool clipped = false;
};

/// Operands of attention, each [batch, heads, ...] of rank 4.
struct Heads {
  Value query, key, value;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reading scores
//===----------------------------------------------------------------------===//

/// Strips multiplications and divisions by uniform numbers from `value`, folds
/// the numbers into `scale`, and returns the remaining value.
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

/// Returns the input of `value` if it is a cast from a narrower or equally wide
/// float type; otherwise `value`.
static Value beforeWidening(Value value) {
  auto cast = definedBy<CastOp>(value);
  if (!cast || !isa<FloatType>(elementTypeOf(cast.getInput())) ||
      elementTypeOf(cast.getInput()).getIntOrFloatBitWidth() >
          elementTypeOf(value).getIntOrFloatBitWidth())
    return value;
  return cast.getInput();
}

static std::optional<Scores> readScores(Value value, int depth);

/// Returns the scores behind `value` with `mask`, whose result is `result`,
/// added as the last mask; nullopt if the mask enlarges the scores by
/// broadcasting.
static std::optional<Scores> masked(Value value, Value result, Mask mask,
                                    int depth) {
  if (shapeOf(value) != shapeOf(result))
    return {};
  auto scores = readScores(value, depth);
  if (scores)
    scores->masks.insert(scores->masks.begin(), mask);
  return scores;
}

/// Reads a select between scores and a uniform number of at most `vanishing`;
/// nullopt if the operands have another form.
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

/// Reads a maximum of masked scores and a uniform number of at most
/// `absorbing`; nullopt if the operands have another form.
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

/// Multiplies scores, masks included, by `scale`. The scale is moved in front
/// of the masks, so the fill of a select is multiplied by it. Returns nullopt
/// if the scale is not positive, if an added mask would have to be scaled, or
/// if a fill leaves the range of hidden scores.
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

/// Reads `value` backwards, through at most `depth` masks and scales, to a
/// matmul that nothing else reads; nullopt if the ops have another form.
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

/// Returns whether one mask can hide keys or whole rows of `rowSize` scores.
static RowMasking rowMaskingOf(const Mask &mask, int64_t rowSize) {
  if (mask.addend)
    return pcc::prepare::rowMaskingOf(mask.addend, rowSize);
  if (mask.kept)
    return pcc::prepare::rowMaskingOf(mask.keep, rowSize);
  auto negated = definedBy<NotOp>(mask.keep);
  return negated ? pcc::prepare::rowMaskingOf(negated.getInput(), rowSize)
                 : RowMasking::Unknown;
}

/// Returns whether attention computes the same as softmax of masked scores,
/// also for rows that are hidden entirely. `nanIsZero`: the model replaces NaN
/// weights by 0.
static bool isSafe(ArrayRef<Mask> masks, bool nanIsZero, int64_t rowSize) {
  RowMasking rows = RowMasking::HideNothing;
  for (const Mask &mask : masks) {
    bool finite = !mask.addend && std::isfinite(mask.fill);
    // In the model, a finite fill makes an entirely hidden row uniform.
    // Attention adds the fill, which has that effect only if it absorbs the
    // scores.
    if (finite && mask.fill > absorbing &&
        rowMaskingOf(mask, rowSize) == RowMasking::Unknown)
      return false;
    if (!finite)
      rows = combineMasks(rows, rowMaskingOf(mask, rowSize));
  }
  return nanIsZero || rows != RowMasking::Unknown;
}

/// Builds the mask operand of attention from a sequence of masks.
class MaskBuilder {
public:
  MaskBuilder(PatternRewriter &rewriter, Location loc, Type elementType)
      : rewriter(rewriter), loc(loc), elementType(elementType) {}

  /// Returns a boolean mask for a single select of -inf, otherwise the sum of
  /// all masks as a float tensor; null if there are no masks.
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
  /// Returns the mask as a float tensor that is added to the scores.
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

/// Returns `heads` with the last two dims transposed if `swapped`.
static Value oriented(Value heads, bool swapped, PatternRewriter &rewriter) {
  return swapped ? Value(TransposeOp::create(rewriter, heads.getLoc(), heads,
                                             ArrayRef<int64_t>{0, 1, 3, 2}))
                 : heads;
}

/// Undoes the repetition of key heads for grouped-query attention. If `heads`
/// repeats each of K heads R times by reshape, broadcast and reshape,
///   [B, K, …] → [B, K, 1, …] → [B, K, R, …] → [B, K·R, …]
/// returns the input [B, K, …]; otherwise returns `heads`.
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

/// Returns query, key and value, without their scales, which are folded into
/// `scale`. Returns nullopt, without creating ops, if their shapes or types are
/// none that attention accepts.
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

/// Returns whether a mask broadcasts to the shape `scores` without enlarging
/// it.
static bool fits(const Mask &mask, ArrayRef<int64_t> scores) {
  auto shape =
      broadcastShapes(shapeOf(mask.addend ? mask.addend : mask.keep), scores);
  return succeeded(shape) && ArrayRef<int64_t>(*shape) == scores;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Returns the softmax that computes `weights`, possibly behind a select that
/// replaces NaN by 0 (then sets `nanIsZero`) and a cast. Returns null if there
/// is none, or if another op reads one of the intermediate results.
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

/// Rewrites the second matmul, weights · value, to `graph.attention`.
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
