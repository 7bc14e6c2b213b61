//===- Attention.cpp - gradients of attention -----------------------------===//

#include "dialects/graph/gradients/GradientBuilder.h"
#include <cmath>

using namespace mlir;
using namespace pcc::graph;

namespace {
/// Builds the gradients of an attention op from matmuls and element-wise ops.
/// For one head, q, k and v have one query, key or value per row, and y is the
/// result. For each tensor X, dX is the gradient of the loss with respect to X:
///
///   S = cap(scale q kᵀ) + mask   scores; a boolean mask adds 0 or -infinity
///   P = softmax(S)               weights, each row sums to 1
///   y = P v
///   dv = Pᵀ dy,  dP = dy vᵀ
///   dS = P · (dP − mean)         element by element; mean is Σ P · dP per row
///
/// cap(x) is c · tanh(x / c) if the attribute `softcap` is c > 0, and x
/// otherwise. FlashAttention (Dao et al. 2022) computes the mean as Σ y · dy.
/// If y is rounded to bf16, this mean makes the row sums of dS differ from 0.
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
    Value mean = b.sum(b.mul(product, weights), {3});
    return b.mul(weights, b.sub(product, mean));
  }
  /// Returns the gradient of the mask operand, a float tensor. Attention
  /// broadcasts the mask to the shape of the scores and adds the mask to the
  /// scores. The argument `scores` is the gradient of the scores after this
  /// addition. The function sums `scores` over the dims along which the mask
  /// was broadcast.
  Value ofMask(Value scores) { return b.sumTo(scores, op.getMask()); }

  /// Returns the gradient of the product q kᵀ, where q is the matrix of queries
  /// and k the matrix of keys. Attention computes its scores from this product
  /// in three steps. The first step multiplies the product by the number
  /// `scale`. The second step replaces each x by c · tanh(x / c) if the
  /// attribute `softcap` is a number c > 0. The third step applies the mask.
  /// The argument `scores` is the gradient of the result of the third step. The
  /// function multiplies `scores` by the derivatives of the first and second
  /// steps.
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

  /// Multiplies one pair of matrices per query head. `rows` holds one matrix
  /// per query head, and `perKey` holds one matrix per key head. There are H
  /// query heads and K key heads, and H / K consecutive query heads share a key
  /// head. For example, if H is 6 and K is 2, query heads 0, 1 and 2 share key
  /// head 0. The matrix of a query head is multiplied by the matrix of its key
  /// head. If `transpose` is true, the matrix of the key head is transposed
  /// before the multiplication. B is the batch size, S the number of queries, T
  /// the number of keys, and D the size of a head:
  ///
  ///   transpose  rows          perKey        result
  ///   false      [B, H, S, T]  [B, K, T, D]  [B, H, S, D]
  ///   true       [B, H, S, D]  [B, K, T, D]  [B, H, S, T]
  Value ofQueries(Value rows, Value perKey, bool transpose) {
    if (!sharesKeys())
      return b.make<MatmulOp>(rows, perKey, false, transpose);
    Value product =
        b.make<MatmulOp>(grouped(rows), grouped(perKey), false, transpose);
    return b.reshape(product, {shape[0], shape[1], shape[2],
                               tensorType(product).getShape().back()});
  }

  /// Computes one matrix per key head. `weights` and `rows` each hold one
  /// matrix per query head. For each query head, the function multiplies the
  /// transposed matrix of `weights` by the matrix of `rows`. There are H query
  /// heads and K key heads, and H / K consecutive query heads share a key head.
  /// The products of the query heads that share a key head are added. B is the
  /// batch size, S the number of queries, T the number of keys, and D the size
  /// of a head:
  ///
  ///   weights [B, H, S, T], rows [B, H, S, D], result [B, K, T, D]
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

/// Builds the gradients of the operands of an attention op in one of two ways:
///
///  - As two fused ops. The fused ops compute the gradients of the queries,
///    keys and values, but not the gradient of the mask.
///  - As matmuls and element-wise ops.
///
/// The function builds fused ops if the gradient of the mask is not needed, and
/// if the caller of differentiate() permits fused ops for this attention op. In
/// this case, the function b.staysWhole() returns true.
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
