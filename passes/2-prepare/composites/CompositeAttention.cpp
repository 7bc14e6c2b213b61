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

/// The number -1e30. A number x of at most -1e30 does not change when an
/// attention score is added to it: the sum is rounded to x. For example, the
/// sum of -1e30 and 5 is rounded to -1e30. A mask may replace the score of a
/// hidden key by such a number x, or add x to the score. The result is x in
/// both cases.
static constexpr double absorbing = -1e30;
/// Largest number that hides a key when it replaces the key's score. After the
/// replacement, the softmax gives the key the weight 0, unless the other keys
/// of the query are hidden too. Two examples:
///
///   softmax([5, -1e9])    = [1, 0]
///   softmax([-1e9, -1e9]) = [0.5, 0.5]
static constexpr double vanishing = -1e9;

namespace {
/// Mask that the model applies to attention scores, by one of two ops. `keep`
/// is the boolean condition of the select. The select keeps a score where
/// `keep` equals `kept` (true or false), and replaces it by `fill` elsewhere:
///
///   sum      result = scores + addend                    (`keep` is null)
///   select   result = (keep == kept) ? scores : fill     (`addend` is null)
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
  /// Whether a maximum op replaces each score of -infinity by a very low finite
  /// number, such as -1e30. The maximum op changes the softmax of a query from
  /// which the masks hide all keys. For example, the softmax of [-inf, -inf] is
  /// [NaN, NaN], but the softmax of [-1e30, -1e30] is [0.5, 0.5].
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

/// Follows `value` back through multiplications and divisions by constants. All
/// elements of such a constant must be one number. Returns the tensor before
/// these ops. Multiplies the parameter `scale` by each number of a
/// multiplication, and divides it by each number of a division. For example,
/// the model computes `value` = x · 2 / 8. The function then returns x and
/// changes `scale` from 1 to 0.25. Changes no op.
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

/// Returns the operand of a cast that does not reduce the number of bits. If
/// `value` is the result of a cast from one float type to another, and the new
/// type has at least as many bits as the old type, the function returns the
/// operand of the cast. An example is a cast from f16 to f32. Otherwise, the
/// function returns `value`.
static Value beforeWidening(Value value) {
  auto cast = definedBy<CastOp>(value);
  if (!cast || !isa<FloatType>(elementTypeOf(cast.getInput())) ||
      elementTypeOf(cast.getInput()).getIntOrFloatBitWidth() >
          elementTypeOf(value).getIntOrFloatBitWidth())
    return value;
  return cast.getInput();
}

static std::optional<Scores> readScores(Value value, int depth);

/// Describes `result`, which an op of the model computes from the attention
/// scores `value` and from `mask`. The returned object is the description of
/// `value`, with `mask` inserted as the first entry of `masks`. Returns nullopt
/// if `value` and `result` have different shapes, or if readScores() finds no
/// matmul of query and key that leads to `value`. `depth` is the largest number
/// of ops that readScores() follows.
static std::optional<Scores> masked(Value value, Value result, Mask mask,
                                    int depth) {
  if (shapeOf(value) != shapeOf(result))
    return {};
  auto scores = readScores(value, depth);
  if (scores)
    scores->masks.insert(scores->masks.begin(), mask);
  return scores;
}

/// Describes the result of the select `op`, which replaces some attention
/// scores by a constant number of at most -1e9. Returns nullopt for any other
/// `op`, or if readScores() finds no matmul of query and key that leads to the
/// scores. `depth` is the largest number of ops that readScores() follows.
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

/// Describes the result of max(scores, c), which `op` computes from attention
/// scores and a constant c of at most -1e30. The maximum replaces each score of
/// -infinity by c. The returned object is the description of `scores`, with
/// `clipped` = true. Returns nullopt for any other `op`, or if readScores()
/// finds no matmul of query and key that leads to `scores`. `depth` is the
/// largest number of ops that readScores() follows.
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

/// Describes the product of `scores`, masked attention scores, and the number
/// `scale`. Also scales the fill values of the masks. Returns nullopt if
/// `scores` is nullopt, if `scale` is not positive, if a mask is a tensor added
/// to the scores, or if a new fill value is greater than -1e9.
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

/// Finds the matmul of query and key from which `value` is computed. Returns
/// the matmul with the scale and the masks that the model applies to it.
/// Returns nullopt if there is no such matmul, if the matmul has several uses,
/// or if the search needs more than `depth` ops.
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

/// Finds out how many keys `mask` can hide from a query. Returns HideNothing if
/// `mask` hides no key. Returns KeepOne if each query provably sees a key.
/// Otherwise, returns Unknown. An added tensor (`mask.addend`) hides a key by
/// an infinite element or NaN, but not by a finite element, such as -1e9. A
/// mask with `mask.fill` hides each key whose score it replaces. `rowSize` is
/// the number of keys. The last dim of the mask has this size or 1.
static RowMasking rowMaskingOf(const Mask &mask, int64_t rowSize) {
  if (mask.addend)
    return pcc::prepare::rowMaskingOf(mask.addend, rowSize);
  if (mask.kept)
    return pcc::prepare::rowMaskingOf(mask.keep, rowSize);
  auto negated = definedBy<NotOp>(mask.keep);
  return negated ? pcc::prepare::rowMaskingOf(negated.getInput(), rowSize)
                 : RowMasking::Unknown;
}

/// Returns whether one `graph.attention` op provably computes the result of the
/// model. For a query whose keys are all hidden by -infinity, the softmax of
/// the model is NaN, but `graph.attention` returns 0. `nanIsZero` states that
/// the model replaces NaN by 0. `rowSize` is the number of keys.
static bool isSafe(ArrayRef<Mask> masks, bool nanIsZero, int64_t rowSize) {
  RowMasking rows = RowMasking::HideNothing;
  for (const Mask &mask : masks) {
    bool finite = !mask.addend && std::isfinite(mask.fill);
    // The model replaces the score of a hidden key by a finite f, but
    // `graph.attention` adds f to the score. If f <= `absorbing`, the sum is
    // rounded to f, which is the same. For a greater f, the softmax differs if
    // all keys of a query are hidden.
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

  /// Returns one tensor that has the effect of all `masks` together. Returns
  /// null if `masks` is empty. The tensor is boolean if there is only one mask,
  /// and this mask is a select that replaces scores by -infinity. In all other
  /// cases, the function turns each mask into a float tensor and returns the
  /// sum of these tensors. `graph.attention` adds the sum to the scores.
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
  /// Returns a float tensor that has the effect of `mask` when added to the
  /// scores. A select becomes a tensor with 0 for each kept score and
  /// `mask.fill` for each replaced score.
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

/// Returns key or value heads before their repetition in grouped-query
/// attention. Matches a reshape, a broadcast and a reshape that repeat each of
/// the K heads of [B, K, S, D]. Returns `heads` if other ops compute `heads`.
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

/// Returns query, key and value of an attention. `scores` is the matmul query ·
/// keyᵀ, and `output` is the matmul softmax · value. Moves constant factors of
/// query and key into `scale`. Undoes the repetition of heads. Returns nullopt
/// if `graph.attention` does not accept the operands.
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

/// Returns whether the tensor of `mask` can be broadcast to the shape `scores`.
/// This shape has the sizes [batch, heads, queries, keys]. For example, a mask
/// of shape [4, 4] fits the scores [2, 8, 4, 4]. A mask of shape [3, 4] does
/// not.
static bool fits(const Mask &mask, ArrayRef<int64_t> scores) {
  auto shape =
      broadcastShapes(shapeOf(mask.addend ? mask.addend : mask.keep), scores);
  return succeeded(shape) && ArrayRef<int64_t>(*shape) == scores;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Returns the softmax that computes the attention weights `weights`. After the
/// softmax, the model may replace NaN by 0 and then cast. Sets `nanIsZero`,
/// which must be false, to true if NaN is replaced. Returns null for any other
/// chain of ops, or if an op outside the chain reads its values.
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

/// Returns a `graph.attention` that replaces the matmul `output` =
/// softmax(mask(scale · query · keyᵀ)) · value. Returns null if the ops do not
/// form such an attention, or if `graph.attention` might compute another
/// result.
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
