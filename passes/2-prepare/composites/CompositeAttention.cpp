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

/// Largest fill value f (number that replaces a hidden score) for which f +
/// score is rounded to f, for every score.
static constexpr double absorbing = -1e30;
/// Largest fill value (number that replaces a hidden score) whose softmax
/// weight is 0. The row of the hidden score must also have a visible score.
static constexpr double vanishing = -1e9;

namespace {
/// A mask that the model applies to attention scores, in one of two forms:
///
///   added    `addend` is added to the scores; `keep` is null
///   select   a score becomes `fill` where the boolean tensor `keep` differs
///            from `kept`; `addend` is null
struct Mask {
  Value addend, keep;
  bool kept = true;
  double fill = 0;
};

/// The operand of an attention's softmax: scale · query keyᵀ, to which the
/// model applies masks. The matmul `product` computes query keyᵀ.
struct Scores {
  MatmulOp product;
  double scale = 1;
  /// The masks that the model applies to the scores. The first entry is the
  /// mask that the model applies last.
  SmallVector<Mask> masks;
  /// Whether a maximum op replaces scores of -infinity by a very low finite
  /// number, such as -1e30. The softmax of a fully hidden row is then uniform,
  /// not NaN.
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

/// Removes multiplications and divisions by uniform constants from `value`.
/// Applies the same constants to `scale`. For x · 2 / 8, returns x and
/// multiplies `scale` by 2 / 8.
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

/// If `value` is a cast from a float type of at most the same width, returns
/// the operand of the cast. Otherwise returns `value`.
static Value beforeWidening(Value value) {
  auto cast = definedBy<CastOp>(value);
  if (!cast || !isa<FloatType>(elementTypeOf(cast.getInput())) ||
      elementTypeOf(cast.getInput()).getIntOrFloatBitWidth() >
          elementTypeOf(value).getIntOrFloatBitWidth())
    return value;
  return cast.getInput();
}

static std::optional<Scores> readScores(Value value, int depth);

/// Reads the attention scores in `value` through at most `depth` ops, and adds
/// `mask` to their list of masks. The model applies `mask` to `value` and gets
/// `result`. Returns nullopt if `value` holds no scores, or if `mask` enlarges
/// their shape.
static std::optional<Scores> masked(Value value, Value result, Mask mask,
                                    int depth) {
  if (shapeOf(value) != shapeOf(result))
    return {};
  auto scores = readScores(value, depth);
  if (scores)
    scores->masks.insert(scores->masks.begin(), mask);
  return scores;
}

/// Matches a select that masks attention scores: it replaces some scores by one
/// number of at most -1e9. Returns the scores with all their masks, found
/// through at most `depth` more ops. Returns nullopt for other selects.
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

/// Matches a maximum of attention scores and a number of at most -1e30, which
/// replaces scores of -infinity. Returns the scores with all their masks, found
/// through at most `depth` more ops. Returns nullopt for other maximums.
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

/// Multiplies masked attention scores by `scale`. Each mask replaces hidden
/// scores by a fill value, which is multiplied too. Returns nullopt in these
/// cases:
///
///   - `scale` is not positive
///   - a mask is a tensor that the model adds to the scores
///   - a scaled fill value is above -1e9
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

/// Returns whether a `graph.attention` op with these masks computes the result
/// of the model, even for a query that sees no key. The model replaces NaN in
/// its softmax by 0 if `nanIsZero` is true. `rowSize` is the number of keys.
static bool isSafe(ArrayRef<Mask> masks, bool nanIsZero, int64_t rowSize) {
  RowMasking rows = RowMasking::HideNothing;
  for (const Mask &mask : masks) {
    bool finite = !mask.addend && std::isfinite(mask.fill);
    // The model replaces a hidden score by the fill value. The attention op
    // adds the fill value to the score. In a row of hidden scores only, both
    // give the same softmax if fill value + score is rounded to the fill value.
    if (finite && mask.fill > absorbing &&
        rowMaskingOf(mask, rowSize) == RowMasking::Unknown)
      return false;
    if (!finite)
      rows = combineMasks(rows, rowMaskingOf(mask, rowSize));
  }
  return nanIsZero || rows != RowMasking::Unknown;
}

/// Builds one mask, an operand of `graph.attention`, from the masks that the
/// model applies one after the other.
class MaskBuilder {
public:
  MaskBuilder(PatternRewriter &rewriter, Location loc, Type elementType)
      : rewriter(rewriter), loc(loc), elementType(elementType) {}

  /// Returns one operand that stands for all of `masks`; null if there are
  /// none. A single select that replaces scores by -infinity becomes a boolean
  /// mask. Other masks become a float tensor, the sum of all masks.
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

/// Returns the rank-4 tensor `heads`. If `swapped` is true, transposes its last
/// two dims.
static Value oriented(Value heads, bool swapped, PatternRewriter &rewriter) {
  return swapped ? Value(TransposeOp::create(rewriter, heads.getLoc(), heads,
                                             ArrayRef<int64_t>{0, 1, 3, 2}))
                 : heads;
}

/// Undoes the repetition of key or value heads in grouped-query attention. The
/// ops that compute `heads` must change shapes like this:
///
///   [B, K, …] → [B, K, 1, …] → [B, K, R, …] → [B, K·R, …]
///
/// Returns the first of these values. Returns `heads` if other ops compute it.
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

/// Returns query, key and value of an attention. The matmul `scores` computes
/// query keyᵀ, and the matmul `output` computes softmax · value. Moves constant
/// factors of query and key into `scale`. Returns nullopt if `graph.attention`
/// does not accept the shapes or types.
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

/// Returns whether the tensor of `mask`, broadcast together with a tensor of
/// the shape `scores`, has the shape `scores`.
static bool fits(const Mask &mask, ArrayRef<int64_t> scores) {
  auto shape =
      broadcastShapes(shapeOf(mask.addend ? mask.addend : mask.keep), scores);
  return succeeded(shape) && ArrayRef<int64_t>(*shape) == scores;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Returns the softmax that computes the attention weights `weights`. A select
/// that replaces NaN by 0 may follow the softmax, and then a cast. Sets
/// `nanIsZero` to whether there is such a select. Returns null if there is no
/// softmax, or if other ops read the results of these ops.
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
