//===- LowerAttention.cpp - attention as two matmuls and a softmax --------===//

#include "passes/7-emit/lower/LowerAttention.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pcc::graph;

namespace {
/// Creates the ops, such as matmuls and a softmax, that compute the result of
/// one attention op. Inserts them immediately before the attention op. Shapes:
///
///   query   [batch, heads, queries, d]
///   key     [batch, keyHeads, keys, d]
///   value   [batch, keyHeads, keys, width]
struct AttentionLowering {
  AttentionOp op;
  OpBuilder builder;
  Location loc;
  Type element;
  int64_t batch, heads, keyHeads, queries, keys, width;

  explicit AttentionLowering(AttentionOp op)
      : op(op), builder(op), loc(op.getLoc()) {
    RankedTensorType query = tensorType(op.getQuery()),
                     key = tensorType(op.getKey());
    element = query.getElementType();
    batch = query.getDimSize(0);
    heads = query.getDimSize(1);
    queries = query.getDimSize(2);
    keyHeads = key.getDimSize(1);
    keys = key.getDimSize(2);
    width = tensorType(op.getValue()).getDimSize(3);
  }

  /// Creates a constant tensor of rank 0 with the one element `value`. The
  /// element type of this tensor is the field `element`, which is the element
  /// type of the queries.
  Value number(double value) {
    auto type = RankedTensorType::get({}, element);
    auto attr = DenseElementsAttr::get(
        type, {Attribute(builder.getFloatAttr(element, value))});
    return ConstantOp::create(builder, loc, type, attr);
  }

  /// Returns `value`, reshaped to `shape` if its shape differs.
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type =
        RankedTensorType::get(shape, tensorType(value).getElementType());
    return type == value.getType()
               ? value
               : ReshapeOp::create(builder, loc, type, value).getResult();
  }

  /// Returns the product of `rows` [B, H, S, d] and `right` [B, K, d, n] for H
  /// query heads and K key heads. If `transpose` is true, `right` is [B, K, n,
  /// d]. H / K neighboring query heads share a key head. One matmul multiplies
  /// the stacked rows of these heads, so `right` need not be copied for each
  /// query head.
  Value product(Value rows, Value right, bool transpose) {
    int64_t depth = tensorType(rows).getDimSize(3),
            columns = transpose ? keys : width;
    Value folded =
        reshape(rows, {batch, keyHeads, heads / keyHeads * queries, depth});
    Value result = MatmulOp::create(builder, loc, folded, right,
                                    /*transpose_lhs=*/false, transpose);
    return reshape(result, {batch, heads, queries, columns});
  }

  /// Returns `scores` with -infinity where the causal mask hides a key from a
  /// query. The last two dims of `scores` are the queries and the keys. Query s
  /// sees keys 0 to s + keys − queries, so the last query sees all keys.
  Value causal(Value scores) {
    auto type = RankedTensorType::get({queries, keys}, builder.getI64Type());
    Value row = IotaOp::create(builder, loc, type, uint64_t(0));
    Value column = IotaOp::create(builder, loc, type, uint64_t(1));
    auto scalar = RankedTensorType::get({}, builder.getI64Type());
    Value shift = ConstantOp::create(
        builder, loc, scalar,
        DenseElementsAttr::get(scalar, int64_t(keys - queries)));
    Value last = AddOp::create(builder, loc, row, shift);
    Value visible =
        CompareOp::create(builder, loc, Predicate::LessOrEqual, column, last);
    return SelectOp::create(builder, loc, visible, scores, number(-HUGE_VAL));
  }

  /// Returns `scores` with the mask operand applied, if there is one. A boolean
  /// mask sets scores to -infinity where it is false. A float mask is added.
  Value masked(Value scores) {
    Value mask = op.getMask();
    if (!mask)
      return scores;
    if (!tensorType(mask).getElementType().isInteger(1))
      return AddOp::create(builder, loc, scores, mask);
    return SelectOp::create(builder, loc, mask, scores, number(-HUGE_VAL));
  }

  /// Returns the softmax of `scores` along the last dim. The tensor `scores`
  /// has the shape [batch, heads, queries, keys], so each row contains the
  /// scores of one query for all keys. A mask can hide all keys from a query.
  /// All elements of the row of this query are then -infinity, and their
  /// softmax would be NaN. The function returns zeros for such a row.
  Value weights(Value scores) {
    bool mayBeHidden = op.getMask() || (op.getCausal() && keys < queries);
    if (!mayBeHidden)
      return SoftmaxOp::create(builder, loc, scores, uint64_t(3));
    Value top =
        ReduceOp::create(builder, loc, ReduceKind::Max, scores,
                         ArrayRef<int64_t>{3}, /*keep=*/true, IntegerAttr());
    Value hidden = CompareOp::create(builder, loc, Predicate::Equal, top,
                                     number(-HUGE_VAL));
    Value zero = number(0);
    Value safe = SelectOp::create(builder, loc, hidden, zero, scores);
    Value soft = SoftmaxOp::create(builder, loc, safe, uint64_t(3));
    return SelectOp::create(builder, loc, hidden, zero, soft);
  }

  /// Creates the ops that compute the result of `op`. Returns this result.
  Value lower() {
    Value scores = product(op.getQuery(), op.getKey(), /*transpose=*/true);
    scores = MulOp::create(builder, loc, scores,
                           number(op.getScale().convertToDouble()));
    if (double cap = op.getSoftcap().convertToDouble(); cap > 0) {
      Value limit = number(cap);
      Value inner = DivOp::create(builder, loc, scores, limit);
      inner = TanhOp::create(builder, loc, inner.getType(), inner);
      scores = MulOp::create(builder, loc, inner, limit);
    }
    if (op.getCausal())
      scores = causal(scores);
    return product(weights(masked(scores)), op.getValue(),
                   /*transpose=*/false);
  }
};
} // namespace

void pcc::emit::lowerAttention(AttentionOp op) {
  Value result = AttentionLowering(op).lower();
  op.replaceAllUsesWith(result);
  op.erase();
}
