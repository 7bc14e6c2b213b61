//===- Attention.cpp - gradients of attention -----------------------------===//

#include "dialects/graph/gradients/GradientBuilder.h"
#include <cmath>

using namespace mlir;
using namespace pcc::graph;

namespace {
/// Builds the gradients of attention from matmuls and element-wise ops. The
/// forward op computes y = P v, where the weights P are the softmax over keys
/// of the scores S = cap(scale q kᵀ) + mask. Hence:
///
///   dv = Pᵀ dy,  dS = P (dP − Σ dP P),  dP = dy vᵀ
///
/// The row sum Σ dP P equals Σ dy y, which FlashAttention (Dao et al. 2022)
/// uses. This class computes it from dP: when y and dP have been rounded to a
/// narrow type, only then do the rows of dS still sum to 0. P is recomputed
/// rather than kept. A row without a visible key has weights and gradients of
/// 0.
class AttentionGradient {
public:
  /// Recomputes the weights P. `dy` is the gradient of the result of `op`.
  AttentionGradient(GradientBuilder &b, AttentionOp op, Value dy)
      : b(b), op(op), dy(dy), shape(tensorType(op.getQuery()).getShape()),
        keyHeads(tensorType(op.getKey()).getDimSize(1)),
        keys(tensorType(op.getKey()).getDimSize(2)) {
    Value scores = ofQueries(op.getQuery(), op.getKey(), /*transpose=*/true);
    weights = softmax(masked(
        capped(b.mul(b.widen(scores), op.getScale().convertToDouble()))));
  }

  /// Returns the gradient of the values.
  Value ofValue() { return ofKeys(b.castLike(weights, dy), dy); }

  /// Returns dS, the gradient of the masked scores, in f32 for narrow types.
  Value ofScores() {
    Value product = b.widen(ofQueries(dy, op.getValue(), /*transpose=*/true));
    Value mean = b.sum(b.mul(product, weights), {3});
    return b.mul(weights, b.sub(product, mean));
  }
  /// Returns the gradient of the mask, given dS.
  Value ofMask(Value scores) { return b.sumTo(scores, op.getMask()); }

  /// Returns the gradient of the products q kᵀ, given dS.
  Value ofProducts(Value scores) {
    if (tanh)
      scores = b.mul(scores, b.sub(1, b.square(tanh)));
    return b.castLike(b.mul(scores, op.getScale().convertToDouble()), dy);
  }
  /// Returns the gradient of the queries, given that of the products.
  Value ofQuery(Value products) {
    return ofQueries(products, op.getKey(), /*transpose=*/false);
  }
  /// Returns the gradient of the keys, given that of the products.
  Value ofKey(Value products) { return ofKeys(products, op.getQuery()); }

private:
  /// Returns whether several query heads share a key head (grouped-query
  /// attention).
  bool sharesKeys() const { return shape[1] != keyHeads; }

  /// Reshapes [B, H, …] to [B, K, H / K, …], where K is the number of key
  /// heads.
  Value grouped(Value value) {
    SmallVector<int64_t> sizes(tensorType(value).getShape());
    sizes.insert(sizes.begin() + 2, sizes[1] / keyHeads);
    sizes[1] = keyHeads;
    return b.reshape(value, sizes);
  }

  /// Multiplies, for each query head, the matrix `rows` [B, H, S, …] by the
  /// matrix `perKey` [B, K, T, …] of its key head, or by its transpose.
  Value ofQueries(Value rows, Value perKey, bool transpose) {
    if (!sharesKeys())
      return b.make<MatmulOp>(rows, perKey, false, transpose);
    Value product =
        b.make<MatmulOp>(grouped(rows), grouped(perKey), false, transpose);
    return b.reshape(product, {shape[0], shape[1], shape[2],
                               tensorType(product).getShape().back()});
  }

  /// Multiplies weightsᵀ by `rows` [B, H, S, …] and sums over the query heads
  /// of each key head. The result is [B, K, T, …].
  Value ofKeys(Value weights, Value rows) {
    if (!sharesKeys())
      return b.make<MatmulOp>(weights, rows, true, false);
    return b.make<EinsumOp>("bkgst,bkgsd->bktd",
                            ValueRange{grouped(weights), grouped(rows)});
  }

  /// Applies the soft cap, cap · tanh(scores / cap), if there is one. Keeps the
  /// tanh, from which ofProducts() computes the slope.
  Value capped(Value scores) {
    double cap = op.getSoftcap().convertToDouble();
    if (cap <= 0)
      return scores;
    tanh = b.apply<TanhOp>(b.div(scores, cap));
    return b.mul(tanh, cap);
  }

  /// Sets scores to -infinity where `condition` is false.
  Value keep(Value condition, Value scores) {
    return b.select(condition, scores, b.like(scores, -HUGE_VAL));
  }

  /// Hides future keys: query s of S sees the keys t ≤ s + T − S.
  Value causal(Value scores) {
    Type i64 = b.getI64Type();
    Value query =
        b.make<IotaOp>(RankedTensorType::get({shape[2], 1}, i64), uint64_t(0));
    Value key =
        b.make<IotaOp>(RankedTensorType::get({1, keys}, i64), uint64_t(1));
    Value last = b.add(query, static_cast<double>(keys - shape[2]));
    return keep(b.compare(Predicate::LessOrEqual, key, last), scores);
  }

  /// Applies causality and the mask, which is boolean or added to the scores.
  Value masked(Value scores) {
    if (op.getCausal())
      scores = causal(scores);
    Value mask = op.getMask();
    if (!mask)
      return scores;
    return tensorType(mask).getElementType().isInteger(1)
               ? keep(mask, scores)
               : b.add(scores, b.castLike(mask, scores));
  }

  /// Computes the softmax over keys. In rows without a visible key, where all
  /// scores are -infinity and a softmax is NaN, the weights are 0.
  Value softmax(Value scores) {
    auto rows = [&](Value value) {
      return b.make<SoftmaxOp>(value.getType(), value, uint64_t(3));
    };
    bool mayBeHidden = op.getMask() || (op.getCausal() && keys < shape[2]);
    if (!mayBeHidden)
      return rows(scores);
    Value top = b.reduce(ReduceKind::Max, scores, {3});
    Value visible = b.compare(Predicate::Greater, top, b.like(top, -HUGE_VAL));
    return b.where(visible, rows(b.where(visible, scores)));
  }

  GradientBuilder &b;
  AttentionOp op;
  Value dy, weights, tanh;
  ArrayRef<int64_t> shape;
  int64_t keyHeads, keys;
};
} // namespace

/// Builds the gradients of queries, keys and values as two fused ops.
static SmallVector<Value> wholeGradients(GradientBuilder &b, AttentionOp op,
                                         Value dy) {
  auto queries = b.makeOp<AttentionQueryGradientOp>(
      op.getQuery(), op.getKey(), op.getValue(), dy, op.getMask(),
      op.getScaleAttr(), op.getCausalAttr(), op.getSoftcapAttr());
  auto keys = b.makeOp<AttentionKeyGradientOp>(
      op.getQuery(), op.getKey(), op.getValue(), dy, queries.getTop(),
      queries.getShare(), queries.getMean(), op.getMask(), op.getScaleAttr(),
      op.getCausalAttr(), op.getSoftcapAttr());
  SmallVector<Value> operands(op->getNumOperands());
  operands[0] = queries.getResult();
  operands[1] = keys.getKeyGradient();
  operands[2] = keys.getValueGradient();
  return operands;
}

/// Builds the fused gradient ops where the target has them, unless the mask
/// needs a gradient, which they do not compute.
Gradients AttentionOp::buildGradients(GradientBuilder &b,
                                      ValueRange gradients) {
  const bool wantsMask = getMask() && b.wants(getMask());
  if (!wantsMask && b.staysWhole())
    return wholeGradients(b, *this, gradients.front());
  AttentionGradient gradient(b, *this, gradients.front());
  SmallVector<Value> operands(getNumOperands());
  bool wantsProducts = b.wants(getQuery()) || b.wants(getKey());
  if (b.wants(getValue()))
    operands[2] = gradient.ofValue();
  if (!wantsMask && !wantsProducts)
    return operands;
  Value scores = gradient.ofScores();
  if (wantsMask)
    operands[3] = gradient.ofMask(scores);
  if (!wantsProducts)
    return operands;
  Value products = gradient.ofProducts(scores);
  if (b.wants(getQuery()))
    operands[0] = gradient.ofQuery(products);
  if (b.wants(getKey()))
    operands[1] = gradient.ofKey(products);
  return operands;
}
