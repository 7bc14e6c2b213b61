//===- StripedAttention.cpp - causal attention as one attention per stripe ===//

#include "passes/4-shard/expand/StripedAttention.h"
#include "passes/4-shard/graph/Stripes.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

StripedAttention::StripedAttention(const ShardedOp &op, ShardedBuilder &b)
    : b(b), attention(cast<graph::AttentionOp>(op.op)), stripes(stripesOf(op)),
      length(graph::tensorType(attention.getQuery()).getDimSize(2) / stripes) {}

Value StripedAttention::expand() {
  SmallVector<Value> results;
  for (int64_t stripe = 0; stripe < stripes; ++stripe)
    results.push_back(b.make<graph::AttentionOp>(
        queriesOf(stripe), keysOf(attention.getKey(), stripe),
        keysOf(attention.getValue(), stripe), maskOf(stripe),
        attention.getScale(), /*causal=*/true, attention.getSoftcap()));
  return joined(results);
}

Value StripedAttention::stripeOf(Value value, int64_t dim, int64_t stripe) {
  if (stripes == 1)
    return value;
  SmallVector<int64_t> shape(graph::tensorType(value).getShape()), cut(shape);
  cut[dim] = stripes;
  cut.insert(cut.begin() + dim + 1, length);
  shape[dim] = length;
  return b.reshape(b.sliceDim(b.reshape(value, cut), dim, stripe, 1), shape);
}

Value StripedAttention::queriesOf(int64_t stripe) {
  return stripeOf(attention.getQuery(), 2, stripe);
}

Value StripedAttention::keysOf(Value keys, int64_t stripe) {
  return b.sliceDim(keys, 2, 0, (stripe + 1) * length);
}

Value StripedAttention::maskOf(int64_t stripe) {
  Value mask = attention.getMask();
  if (!mask)
    return {};
  const int64_t rank = graph::tensorType(mask).getRank();
  ArrayRef<int64_t> shape = graph::tensorType(mask).getShape();
  const bool hasRows = rank > 1 && shape[rank - 2] > 1,
             hasKeys = rank > 0 && shape[rank - 1] > 1;
  if (hasRows)
    mask = stripeOf(mask, rank - 2, stripe);
  return hasKeys ? b.sliceDim(mask, rank - 1, 0, (stripe + 1) * length) : mask;
}

Value StripedAttention::joined(ArrayRef<Value> results) {
  if (results.size() == 1)
    return results.front();
  SmallVector<int64_t> shape(graph::tensorType(results.front()).getShape());
  // Concatenate along a new dim that counts stripes. Ranks may split the tokens
  // of each stripe, and a concatenation along the tokens would move tokens
  // between ranks.
  shape.insert(shape.begin() + 2, 1);
  auto stacked = llvm::map_to_vector(
      results, [&](Value result) { return b.reshape(result, shape); });
  Value all =
      b.make<graph::ConcatOp>(ValueRange(stacked), b.getI64IntegerAttr(2));
  shape.erase(shape.begin() + 2);
  shape[2] = stripes * length;
  return b.reshape(all, shape);
}
