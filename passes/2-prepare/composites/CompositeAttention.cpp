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

/// Bound of -1e30 on the number that a mask puts in place of a hidden score. A
/// number at or below this bound does not change when a score is added to it.
/// For example, the sum of -1e30 and 5 is rounded to -1e30.
static constexpr double absorbing = -1e30;
/// Bound of -1e9 on the number that a mask puts in place of a hidden score. A
/// softmax gives such a number the weight 0 if the number is at most -1e9 and
/// the row has another score that is not hidden. For example, the softmax of
/// [5, -1e9] is [1, 0].
static constexpr double vanishing = -1e9;

namespace {
/// Mask that the model applies to attention scores. A mask has one of two
/// forms:
///
///   sum      result = scores + addend                    (`keep` is null)
///   select   result = (keep == kept) ? scores : fill     (`addend` is null)
///
/// `addend` is a float tensor. `keep` is a boolean tensor. `kept` is the
/// boolean for which a score stays. `fill` is the number that replaces all
/// other scores.
struct Mask {
  Value addend, keep;
  bool kept = true;
  double fill = 0;
};

/// Description of the tensor of which an attention takes the softmax. The
/// tensor is the result of these steps:
///
///   1. The matmul `product` multiplies the query by the transposed key.
///   2. The number `scale` multiplies the result of the matmul.
///   3. The masks in `masks` hide some elements.
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

/// Describes the tensor `result`. The model computes `result` when it applies
/// `mask` to the tensor `value`. The function calls readScores() to describe
/// `value` as attention scores, and then adds `mask` to the description. The
/// search for the matmul of query and key takes at most `depth` steps. Returns
/// nullopt if `value` does not hold attention scores, or if `value` and
/// `result` have different shapes.
static std::optional<Scores> masked(Value value, Value result, Mask mask,
                                    int depth) {
  if (shapeOf(value) != shapeOf(result))
    return {};
  auto scores = readScores(value, depth);
  if (scores)
    scores->masks.insert(scores->masks.begin(), mask);
  return scores;
}

/// Matches a select op that masks attention scores. The op must replace hidden
/// scores by one number, and the number must be at most -1e9. Returns a
/// description of the masked scores. Returns nullopt for other select ops. The
/// search goes back from `op` to the matmul of query and key, in at most
/// `depth` steps.
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

/// Matches an op max(scores, c), in which `scores` are attention scores and c
/// is a number of at most -1e30. The op replaces each score of -infinity by c.
/// Returns a description of the scores. Returns nullopt for other maximum ops.
/// The search goes back from `op` to the matmul of query and key, in at most
/// `depth` steps.
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
/// fewer than `depth` masks and scales. Returns nullopt if the ops have another
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

/// Returns whether `mask` can hide some keys from a query, or even all keys. A
/// mask that is added to the scores hides a key by the element -infinity or
/// NaN. A mask that is a select hides a key when it replaces the score of the
/// key. There are `rowSize` keys. Returns Unknown if the function can prove
/// nothing.
static RowMasking rowMaskingOf(const Mask &mask, int64_t rowSize) {
  if (mask.addend)
    return pcc::prepare::rowMaskingOf(mask.addend, rowSize);
  if (mask.kept)
    return pcc::prepare::rowMaskingOf(mask.keep, rowSize);
  auto negated = definedBy<NotOp>(mask.keep);
  return negated ? pcc::prepare::rowMaskingOf(negated.getInput(), rowSize)
                 : RowMasking::Unknown;
}

/// Returns whether a `graph.attention` op with the masks `masks` computes the
/// same result as the model. The results could differ for a query from which
/// the masks hide all keys. `nanIsZero` is true if the model replaces NaN in
/// the result of the softmax by 0. There are `rowSize` keys.
static bool isSafe(ArrayRef<Mask> masks, bool nanIsZero, int64_t rowSize) {
  RowMasking rows = RowMasking::HideNothing;
  for (const Mask &mask : masks) {
    bool finite = !mask.addend && std::isfinite(mask.fill);
    // The model replaces the score of a hidden key by a finite number f. The
    // attention op adds f to the score instead. If a query sees a key, both
    // give each hidden key the weight 0. If all keys of a query are hidden, the
    // two softmaxes can differ. For the scores 1 and 2, the model computes
    // softmax([f, f]), and the attention op computes
    // softmax([f + 1, f + 2]). The softmaxes are equal if f is at most
    // `absorbing`, because f + 1 and f + 2 are then rounded to f. For a larger
    // f, each query must provably see at least one key.
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

/// Undoes the repetition of key or value heads in grouped-query attention.
/// There, R query heads use the same key head. A model may repeat each of the K
/// key heads R times by these three ops:
///
///   reshape     [B, K, S, D]    → [B, K, 1, S, D]
///   broadcast   [B, K, 1, S, D] → [B, K, R, S, D]
///   reshape     [B, K, R, S, D] → [B, K·R, S, D]
///
/// B is the batch size, S is the sequence length, and D is the size of a head.
/// If three such ops compute `heads`, the function returns the operand of the
/// first reshape. Otherwise, it returns `heads`.
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

/// Returns the softmax op of an attention. `weights` must be the result of this
/// chain of ops:
///
///   y = softmax(x)
///   z = isnan(y) ? 0 : y      may be missing
///   weights = cast(z)         may be missing
///
/// `nanIsZero` must be false before the call. The function sets `nanIsZero` to
/// true if the chain replaces NaN by 0. Returns null if the ops do not form
/// this chain, or if an op outside the chain reads y or z.
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
