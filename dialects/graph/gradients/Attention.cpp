//===- Attention.cpp - gradients of attention -----------------------------===//

#include "dialects/graph/gradients/GradientBuilder.h"
#include <cmath>

using namespace mlir;
using namespace pcc::graph;

namespace {
/// Builds the gradients of an attention op from matmuls and element-wise ops. y
/// is the result, and dX is the gradient of X. For one head, with Σ over each
/// row:
///
///   S = capped(scale q kᵀ) + mask,  P = softmax(S),  y = P v
///   dv = Pᵀ dy,  dP = dy vᵀ,  dS = P · (dP − Σ P · dP)
class AttentionGradient {
public:
  /// Builds ops that compute P = softmax(S) a second time. S holds the scores
  /// of the attention op `op`, with one row per query. Each row of P holds the
  /// weights of the values for one query. The constructor stores P in the
  /// member `weights`, because all gradients of `op` depend on P. `dy` is the
  /// gradient of the result of `op`.
  AttentionGradient(GradientBuilder &b, AttentionOp op, Value dy)
      : b(b), op(op), dy(dy), shape(tensorType(op.getQuery()).getShape()),
        keyHeads(tensorType(op.getKey()).getDimSize(1)),
        keys(tensorType(op.getKey()).getDimSize(2)) {
    Value scores = ofQueries(op.getQuery(), op.getKey(), /*transpose=*/true);
    weights = softmax(masked(
        capped(b.mul(b.widen(scores), op.getScale().convertToDouble()))));
  }

  /// Returns dv, the gradient of the value operand.
  Value ofValue() { return ofKeys(b.castLike(weights, dy), dy); }

  /// Returns dS, the gradient of the loss with respect to S. S holds the
  /// attention scores to which the mask has been applied, and is the operand of
  /// the softmax. If the operands of attention are narrower than f32, for
  /// example bf16, dS is f32. Otherwise dS has the element type of the
  /// operands.
  Value ofScores() {
    Value product = b.widen(ofQueries(dy, op.getValue(), /*transpose=*/true));
    // FlashAttention (Dao et al. 2022) computes this mean as Σ y · dy. If y is
    // rounded to bf16, the row sums of dS then differ from 0.
    Value mean = b.sum(b.mul(product, weights), {3});
    return b.mul(weights, b.sub(product, mean));
  }
  /// Returns the gradient of the mask operand, a float tensor. Attention
  /// broadcasts the mask to the shape of the scores and adds the mask to the
  /// scores. The argument `scores` is the gradient of the scores after this
  /// addition. The function sums `scores` over the dims along which the mask
  /// was broadcast.
  Value ofMask(Value scores) { return b.sumTo(scores, op.getMask()); }

  /// Returns the gradient of the product q kᵀ of queries and keys. `scores` is
  /// the gradient of the scores that are scaled, capped and masked.
  Value ofProducts(Value scores) {
    if (tanh)
      scores = b.mul(scores, b.sub(1, b.square(tanh)));
    return b.castLike(b.mul(scores, op.getScale().convertToDouble()), dy);
  }
  /// Returns the gradient of the query operand. `products` is the gradient of
  /// the product q kᵀ.
  Value ofQuery(Value products) {
    return ofQueries(products, op.getKey(), /*transpose=*/false);
  }
  /// Returns the gradient of the key operand. `products` is the gradient of the
  /// product q kᵀ.
  Value ofKey(Value products) { return ofKeys(products, op.getQuery()); }

private:
  /// Returns whether several query heads share a key head (grouped-query
  /// attention).
  bool sharesKeys() const { return shape[1] != keyHeads; }

  /// Reshapes `value` from [B, H, …] to [B, K, H / K, …]. H is the number of
  /// query heads and K the number of key heads.
  Value grouped(Value value) {
    SmallVector<int64_t> sizes(tensorType(value).getShape());
    sizes.insert(sizes.begin() + 2, sizes[1] / keyHeads);
    sizes[1] = keyHeads;
    return b.reshape(value, sizes);
  }

  /// Multiplies the matrix of each query head in `rows` by the matrix of its
  /// key head in `perKey`. The shapes for H query heads and K key heads are:
  ///
  ///   transpose = false:  [B, H, S, T] x [B, K, T, D] -> [B, H, S, D]
  ///   transpose = true:   [B, H, S, D] x [B, K, T, D] -> [B, H, S, T]
  Value ofQueries(Value rows, Value perKey, bool transpose) {
    if (!sharesKeys())
      return b.make<MatmulOp>(rows, perKey, false, transpose);
    Value product =
        b.make<MatmulOp>(grouped(rows), grouped(perKey), false, transpose);
    return b.reshape(product, {shape[0], shape[1], shape[2],
                               tensorType(product).getShape().back()});
  }

  /// Multiplies the transposed matrix of each query head in `weights` by its
  /// matrix in `rows`. Sums the products of the query heads that share a key
  /// head. With H query heads and K key heads: [B, H, S, T] x [B, H, S, D] ->
  /// [B, K, T, D].
  Value ofKeys(Value weights, Value rows) {
    if (!sharesKeys())
      return b.make<MatmulOp>(weights, rows, true, false);
    return b.make<EinsumOp>("bkgst,bkgsd->bktd",
                            ValueRange{grouped(weights), grouped(rows)});
  }

  /// Returns cap · tanh(scores / cap), which limits the scores to the range
  /// from -cap to cap. The number cap is the attribute `softcap` of the
  /// attention op. If the attribute is 0, returns `scores` unchanged. Otherwise
  /// the function stores tanh(scores / cap) in the member `tanh`, because
  /// ofProducts() uses it.
  Value capped(Value scores) {
    double cap = op.getSoftcap().convertToDouble();
    if (cap <= 0)
      return scores;
    tanh = b.apply<TanhOp>(b.div(scores, cap));
    return b.mul(tanh, cap);
  }

  /// Returns `scores`, with -infinity where `condition` is false.
  Value keep(Value condition, Value scores) {
    return b.select(condition, scores, b.like(scores, -HUGE_VAL));
  }

  /// Applies the causal mask to `scores`, which has S queries and T keys. For
  /// query s, the scores of all keys t > s + T − S become -infinity.
  Value causal(Value scores) {
    Type i64 = b.getI64Type();
    Value query =
        b.make<IotaOp>(RankedTensorType::get({shape[2], 1}, i64), uint64_t(0));
    Value key =
        b.make<IotaOp>(RankedTensorType::get({1, keys}, i64), uint64_t(1));
    Value last = b.add(query, static_cast<double>(keys - shape[2]));
    return keep(b.compare(Predicate::LessOrEqual, key, last), scores);
  }

  /// Applies the causal mask, if the op is causal, and then the mask operand,
  /// if there is one. A boolean mask sets scores to -infinity where it is
  /// false. A float mask is added to the scores.
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

  /// Returns the softmax of `scores` over keys. If the mask hides all keys from
  /// a query, the weights of the query are 0, not NaN.
  Value softmax(Value scores) {
    auto rows = [&](Value value) {
      return b.make<SoftmaxOp>(value.getType(), value, uint64_t(3));
    };
    bool mayBeHidden = op.getMask() || (op.getCausal() && keys < shape[2]);
    if (!mayBeHidden)
      return rows(scores);
    Value top = b.reduce(ReduceKind::Max, scores, {3});
    Value hidden = b.compare(Predicate::Equal, top, b.like(top, -HUGE_VAL));
    return b.except(hidden, rows(b.except(hidden, scores)));
  }

  GradientBuilder &b;
  AttentionOp op;
  Value dy, weights, tanh;
  ArrayRef<int64_t> shape;
  int64_t keyHeads, keys;
};
} // namespace

/// Builds the gradients of the query, key and value operands of the attention
/// op `op` with two fused ops. `dy` is the gradient of the result of `op`. The
/// first fused op, AttentionQueryGradientOp, computes the gradient of the query
/// operand. The second fused op, AttentionKeyGradientOp, computes the gradients
/// of the key and value operands.
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

/// Builds two fused gradient ops if the caller of differentiate() permits them.
/// Builds matmuls and element-wise ops otherwise, and also if the gradient of
/// the mask is needed, because the fused ops do not compute it.
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
