//===- ExpandAttention.cpp - expansion of ring and striped attention ------===//
//
// Ring attention (Liu et al. 2023) as ordinary ops. The dim of queries and that
// of keys are cut into the c parts of the ring, [c@axis, size]. Part p of the
// queries and part p of the keys are on one rank. In step i the keys have moved
// by i parts, so one product batched over the parts gives the scores of the
// step:
//
//   scores  [B, K, c, R·size, size] = query [B, K, c, R·size, D] · keyᵀ
//   part p of the queries meets part (p + i) mod c of the keys
//
// Here B is the batch, K the number of key heads, R the number of query heads
// per key head, D the size of a head and E the width of the values.
//
// In stripes (Stripes.h) each part has a piece of each of n stripes, and a step
// has n products. Stripe k of the queries meets stripes 0 to k of the keys,
// c·(k+1)·size keys over all steps.
//
// Each row keeps an OnlineSoftmaxState (online softmax, Milakov & Gimelshein
// 2018): the largest score so far, the sum of exponentials, and the sum of
// values weighted by them. Both sums are scaled down when a larger score comes:
//
//   top' = max(top, max scores)    power = exp(scores - top')
//   sum' = sum · exp(top - top') + Σ power
//   out' = out · exp(top - top') + power · value        result = out / sum
//
//===----------------------------------------------------------------------===//

#include "passes/4-shard/expand/Expansions.h"
#include "passes/4-shard/expand/StripedAttention.h"
#include "passes/4-shard/graph/RingAttention.h"
#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::Predicate;

namespace {
/// Running sums of the online softmax, for all queries of one stripe of the
/// sequence. All members are null before the first step. The shape is [batch,
/// key heads, ranks, query heads per key head, queries of a rank, last dim].
/// The last dim is the width of the values in `out`, and 1 in `top` and `sum`:
///
///   top = largest score    sum = Σ exp(score - top)
///   out = Σ exp(score - top) · value
struct OnlineSoftmaxState {
  Value top, sum, out;
};

/// Replaces one attention op by ordinary ops, such as matmuls and exponentials.
/// The attention op computes ring attention: mesh axes split its tokens, and
/// ranks send keys and values to each other.
class RingAttentionExpansion : StripedAttention {
public:
  RingAttentionExpansion(const ShardedOp &op, ShardedBuilder &b)
      : StripedAttention(op, b), ring(op), axes(ringAxes(op)) {
    auto query = graph::tensorType(attention.getQuery()).getShape(),
         key = graph::tensorType(attention.getKey()).getShape();
    batch = query[0];
    keyHeads = key[1];
    group = query[1] / key[1];
    count = dist::numParts(axes);
    size = llvm::divideCeil(length, count);
    hides =
        attention.getMask() || attention.getCausal() || count * size != length;
  }

  /// Builds the ops of all steps of ring attention. Returns the value that
  /// replaces the result of the attention op.
  Value expand() {
    SmallVector<Value> queries, masks, results;
    makeMask();
    for (int64_t stripe = 0; stripe < stripes; ++stripe) {
      queries.push_back(cutQueries(queriesOf(stripe)));
      masks.push_back(maskOf(stripe));
    }
    SmallVector<Value, 2> keyValues = makeKeyValues();
    SmallVector<OnlineSoftmaxState> rows(stripes);
    for (int64_t step = 0; step < count; ++step) {
      // Create the ops that move keys and values for the next step before the
      // ops that compute this step. Communication and computation can then
      // overlap.
      SmallVector<Value, 2> next;
      if (step + 1 < count)
        for (Value keyValue : keyValues)
          next.push_back(moved(keyValue));
      auto [keys, values] = separate(keyValues);
      for (int64_t stripe = 0; stripe < stripes; ++stripe) {
        Value scores = scoresOf(queries[stripe], seenBy(stripe, keys));
        scores = masked(scores, masks[stripe], step, stripe);
        rows[stripe] = attend(rows[stripe], scores, seenBy(stripe, values));
      }
      keyValues = next;
    }
    for (const OnlineSoftmaxState &own : rows)
      results.push_back(finish(own));
    return joined(results);
  }

private:
  static int64_t dimOf(Value value, int64_t dim) {
    return graph::tensorType(value).getDimSize(dim);
  }

  Value transpose(Value value, ArrayRef<int64_t> dims) {
    return b.make<graph::TransposeOp>(value, dims);
  }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  /// Reshapes queries [batch, query heads, tokens, head size] to [batch, key
  /// heads, ranks, group · tokens per rank, head size]. `group` is the number
  /// of query heads per key head. The tokens are padded.
  Value cutQueries(Value query) {
    Value whole = b.padDim(query, 2, count * size, 0);
    const int64_t depth = dimOf(whole, 3);
    Value cut = b.reshape(whole, {batch, keyHeads, group, count, size, depth});
    if (group > 1)
      cut = transpose(cut, {0, 1, 3, 2, 4, 5});
    return b.reshape(cut, {batch, keyHeads, count, group * size, depth});
  }

  /// Returns the keys and the values that ranks send to each other. Both are
  /// concatenated along the last dim if ringPacksKeysAndValues() is true. The
  /// shape is [batch, key heads, stripes, padded tokens of a stripe, last dim].
  SmallVector<Value, 2> makeKeyValues() {
    SmallVector<Value, 2> keyValues{attention.getKey(), attention.getValue()};
    if (ringPacksKeysAndValues(ring))
      keyValues = {b.make<graph::ConcatOp>(ValueRange(keyValues),
                                           b.getI64IntegerAttr(3))};
    for (Value &keyValue : keyValues) {
      keyValue = b.reshape(
          keyValue, {batch, keyHeads, stripes, length, dimOf(keyValue, 3)});
      keyValue = b.padDim(keyValue, 3, count * size, 0);
    }
    return keyValues;
  }

  /// Rotates the tokens of `keyValue` (keys, values, or both) by one rank: each
  /// rank gets the tokens of the next rank, and the last rank gets those of
  /// rank 0. Dim 3 counts the tokens of a stripe.
  Value moved(Value keyValue) {
    SmallVector<int64_t> from;
    for (int64_t i = 0; i < count * size; ++i)
      from.push_back((i + size) % (count * size));
    return b.takeAlong(keyValue, 3, from);
  }

  /// Returns the keys and the values as two tensors. `keyValues` contains these
  /// two, or one tensor with both concatenated along the last dim.
  std::pair<Value, Value> separate(ArrayRef<Value> keyValues) {
    if (keyValues.size() == 2)
      return {keyValues[0], keyValues[1]};
    const int64_t depth = dimOf(attention.getKey(), 3),
                  width = dimOf(attention.getValue(), 3);
    return {b.sliceDim(keyValues[0], 4, 0, depth),
            b.sliceDim(keyValues[0], 4, depth, width)};
  }

  /// Returns the keys or values of stripes 0 to `stripe` of the sequence. The
  /// causal mask hides later stripes. Changes the shape from [batch, key heads,
  /// stripes, tokens, last dim] to [batch, key heads, ranks, tokens of a rank,
  /// last dim].
  Value seenBy(int64_t stripe, Value keyValue) {
    const int64_t seen = stripe + 1, depth = dimOf(keyValue, 4);
    Value value = b.sliceDim(keyValue, 2, 0, seen);
    if (seen > 1)
      value = transpose(
          b.reshape(value, {batch, keyHeads, seen, count, size, depth}),
          {0, 1, 3, 2, 4, 5});
    return b.reshape(value, {batch, keyHeads, count, seen * size, depth});
  }

  //===--------------------------------------------------------------------===//
  // Masks
  //===--------------------------------------------------------------------===//

  /// Sets the member `mask` to the user's attention mask, reshaped to nine
  /// dims; null if the user gives no mask.
  void makeMask() {
    mask = attention.getMask();
    if (!mask)
      return;
    SmallVector<int64_t> shape(graph::tensorType(mask).getShape());
    shape.insert(shape.begin(), 4 - shape.size(), 1);
    mask = b.reshape(mask, shape);
    hasRows = shape[2] > 1;
    hasKeys = shape[3] > 1;
    // Pad the tokens to the same number on each rank. With several stripes, no
    // padding is needed: ranks then divide each stripe evenly.
    if (hasRows)
      mask = b.padDim(mask, 2, stripes * count * size, 0);
    if (hasKeys)
      mask = b.padDim(mask, 3, stripes * count * size, 0);
    const bool hasHeads = shape[1] > 1;
    SmallVector<int64_t> cut{shape[0], hasHeads ? keyHeads : 1,
                             hasHeads ? group : 1};
    for (bool isThere : {hasRows, hasKeys})
      for (int64_t length : {stripes, count, size})
        cut.push_back(isThere ? length : 1);
    mask = b.reshape(mask, cut);
  }

  /// Returns the user's mask for the queries of stripe `stripe` and the keys of
  /// stripes 0 to `stripe` of the sequence, or null. The shape is [batch, key
  /// heads, (query rank, key rank) pairs, query heads per key head, queries of
  /// a rank, keys of a rank]. A dim has size 1 if the mask broadcasts along it.
  Value maskOf(int64_t stripe) {
    if (!mask)
      return {};
    Value own = mask;
    if (hasRows)
      own = b.sliceDim(own, 3, stripe, 1);
    if (hasKeys)
      own = b.sliceDim(own, 6, 0, stripe + 1);
    own = transpose(own, {0, 1, 3, 4, 7, 2, 5, 6, 8});
    auto size = [&](int64_t dim) { return dimOf(own, dim); };
    return b.reshape(own, {size(0), size(1), size(3) * size(4), size(5),
                           size(6), size(7) * size(8)});
  }

  /// Selects from `own`, a result of maskOf(), the masks for step `step` of
  /// ring attention. Rank p then has its own queries and the keys of rank
  /// (p + step) mod `count`.
  Value maskIn(int64_t step, Value own) {
    if (!hasKeys)
      return own;
    SmallVector<int64_t> from;
    for (int64_t part = 0; part < count; ++part)
      from.push_back((hasRows ? part * count : 0) + (part + step) % count);
    return b.takeAlong(own, 2, from);
  }

  /// Returns a tensor with the numbers 0, 1, …, length - 1 along dim `dim`. The
  /// tensor has six dims, and all dims except `dim` have size 1. It can
  /// therefore be broadcast to the scores [batch, key heads, ranks, query heads
  /// per key head, queries, keys]. If `dim` is 2, the dim is split over the
  /// ranks, so each rank holds one number: its index in the ring.
  Value index(int64_t length, int64_t dim) {
    dist::DimSharding split;
    if (dim == 2)
      split = dist::splitOver(count, axes);
    return b.iota(length, dim, 6, b.getI64Type(), split);
  }

  /// Returns `value` as a scalar constant of type i64.
  Value number(int64_t value) { return b.scalar(b.getI64Type(), value); }

  /// Returns the causal mask for the queries of stripe `stripe` in step `step`
  /// of ring attention; null if the attention is not causal. The mask is true
  /// where a query sees a key of stripes 0 to `stripe`. The shape of the mask
  /// can be broadcast to scores [batch, key heads, ranks, query heads per key
  /// head, queries, keys].
  Value seenInOrder(int64_t step, int64_t stripe) {
    if (!attention.getCausal())
      return {};
    const int64_t before = stripe * size;
    Value key = index(before + size, 5);
    if (step == 0) {
      Value last = index(size, 4);
      if (before > 0)
        last = b.make<graph::AddOp>(last, number(before));
      return b.compare(Predicate::LessOrEqual, key, last);
    }
    // Keys of earlier stripes are visible. Within the stripe of the queries,
    // rank p has the keys of rank (p + step) mod count. These keys precede the
    // queries of rank p only if p + step >= count.
    Value hasWrapped = b.compare(Predicate::GreaterOrEqual, index(count, 2),
                                 number(count - step));
    return stripe == 0
               ? hasWrapped
               : b.make<graph::OrOp>(hasWrapped, b.compare(Predicate::Less, key,
                                                           number(before)));
  }

  /// Returns a Boolean mask that is false for padding among the keys of step
  /// `step`. Returns null if there is no padding, or if the attention is
  /// causal, because the causal mask then hides the padding.
  Value isKey(int64_t step) {
    if (count * size == length || attention.getCausal())
      return {};
    Value part = index(count, 2);
    Value ahead = b.make<graph::AddOp>(part, number(step));
    Value hasWrapped =
        b.compare(Predicate::GreaterOrEqual, ahead, number(count));
    part = b.make<graph::SelectOp>(
        hasWrapped, b.make<graph::SubOp>(ahead, number(count)), ahead);
    Value first = b.make<graph::MulOp>(part, number(size));
    return b.compare(Predicate::Less,
                     b.make<graph::AddOp>(first, index(size, 5)),
                     number(length));
  }

  /// Returns `scores` with -inf where the Boolean mask `visible` is false. If
  /// `visible` is null, returns `scores`.
  Value hideUnless(Value visible, Value scores) {
    return visible ? b.make<graph::SelectOp>(visible, scores,
                                             b.scalarLike(scores, -HUGE_VAL))
                   : scores;
  }

  /// Applies the causal mask, the padding mask and the user's `mask` to the
  /// scores of one step of ring attention. A user's mask of Booleans hides
  /// scores where it is false. A mask of numbers is added to the scores.
  Value masked(Value scores, Value mask, int64_t step, int64_t stripe) {
    scores = hideUnless(seenInOrder(step, stripe), scores);
    scores = hideUnless(isKey(step), scores);
    if (!mask)
      return scores;
    Value own = maskIn(step, mask);
    Type element = graph::tensorType(own).getElementType();
    if (element.isInteger(1))
      return hideUnless(own, scores);
    return b.make<graph::AddOp>(
        scores, b.cast(own, graph::tensorType(scores).getElementType()));
  }

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  /// Returns `value` times `factor`, also the part of `factor` that a constant
  /// of the element type loses.
  Value scaled(Value value, double factor) {
    Value product = b.make<graph::MulOp>(value, b.scalarLike(value, factor));
    const double rest = b.roundingError(value, factor);
    if (rest == 0)
      return product;
    return b.make<graph::AddOp>(
        product, b.make<graph::MulOp>(value, b.scalarLike(value, rest)));
  }

  /// Returns the scaled and soft-capped scores of one step of ring attention.
  /// The dims `queries` and `keys` are per rank, and `group` is the query heads
  /// per key head:
  ///
  ///   `query`   [batch, key heads, ranks, group · queries, head size]
  ///   `key`     [batch, key heads, ranks, keys, head size]
  ///   result    [batch, key heads, ranks, group, queries, keys]
  Value scoresOf(Value query, Value key) {
    Value product = b.make<graph::MatmulOp>(query, key, /*transpose_lhs=*/false,
                                            /*transpose_rhs=*/true);
    product = b.reshape(b.widen(product),
                        {batch, keyHeads, count, group, size, dimOf(key, 3)});
    product = scaled(product, attention.getScale().convertToDouble());
    const double cap = attention.getSoftcap().convertToDouble();
    if (cap <= 0)
      return product;
    Value limit = b.scalarLike(product, cap);
    Value inner = b.make<graph::DivOp>(product, limit);
    return b.make<graph::MulOp>(b.make<graph::TanhOp>(inner), limit);
  }

  /// Adds the scores and values of one step of ring attention to the online
  /// softmax. `before` is its state before the step. Returns its state after
  /// the step.
  OnlineSoftmaxState attend(const OnlineSoftmaxState &before, Value scores,
                            Value value) {
    OnlineSoftmaxState rows;
    rows.top = b.reduce(graph::ReduceKind::Max, scores, {5});
    if (before.top)
      rows.top = b.make<graph::MaxOp>(before.top, rows.top);
    Value top = rows.top;
    // If masks have hidden all keys from a query so far, its largest score is
    // -inf, and -inf - (-inf) would be NaN. For such a query, subtract 0
    // instead. A NaN score stays NaN.
    if (hides)
      top = b.make<graph::SelectOp>(
          b.compare(Predicate::Equal, top, b.scalarLike(top, -HUGE_VAL)),
          b.scalarLike(top, 0), top);
    Value power = b.make<graph::ExpOp>(b.make<graph::SubOp>(scores, top));
    rows.sum = b.reduce(graph::ReduceKind::Sum, power, {5});
    rows.out = weighted(power, value);
    if (before.top) {
      Value shrink =
          b.make<graph::ExpOp>(b.make<graph::SubOp>(before.top, top));
      rows.sum = b.make<graph::AddOp>(b.make<graph::MulOp>(before.sum, shrink),
                                      rows.sum);
      rows.out = b.make<graph::AddOp>(b.make<graph::MulOp>(before.out, shrink),
                                      rows.out);
    }
    return rows;
  }

  /// Returns, for each query, the sum of the values of all keys, weighted by
  /// `power`. `group` is the number of query heads per key head:
  ///
  ///   `power`   [batch, key heads, ranks, group, queries, keys]
  ///   `value`   [batch, key heads, ranks, keys, width]
  ///   result    [batch, key heads, ranks, group, queries, width]
  Value weighted(Value power, Value value) {
    Type element = graph::tensorType(value).getElementType();
    Value flat =
        b.reshape(b.cast(power, element),
                  {batch, keyHeads, count, group * size, dimOf(value, 3)});
    Value sum = b.make<graph::MatmulOp>(flat, value, /*transpose_lhs=*/false,
                                        /*transpose_rhs=*/false);
    return b.reshape(b.widen(sum),
                     {batch, keyHeads, count, group, size, dimOf(value, 4)});
  }

  /// Returns the attention result of one stripe of the sequence from the final
  /// online softmax `rows`: [batch, query heads, tokens of the stripe, width of
  /// the values]. A query that sees no key has the result 0.
  Value finish(const OnlineSoftmaxState &rows) {
    Value mean = b.make<graph::DivOp>(rows.out, rows.sum);
    if (hides)
      mean = b.make<graph::SelectOp>(
          b.compare(Predicate::Equal, rows.sum, b.scalarLike(rows.sum, 0)),
          b.scalarLike(mean, 0), mean);
    Value result =
        b.cast(mean, graph::tensorType(attention.getResult()).getElementType());
    if (group > 1)
      result = transpose(result, {0, 1, 3, 2, 4, 5});
    result = b.reshape(
        result, {batch, keyHeads * group, count * size, dimOf(result, 5)});
    return b.sliceDim(result, 2, 0, length);
  }

  /// The attention op that is replaced, and the mesh axes that split its dims.
  const ShardedOp &ring;
  /// Mesh axes or sub-axes that split the queries and the keys. In each step of
  /// ring attention, ranks along these axes send their keys and values to each
  /// other.
  dist::SubAxes axes;
  /// Sizes: the batch, key heads, query heads per key head (`group`), ranks in
  /// the ring (`count`), and padded tokens per rank and stripe (`size`).
  int64_t batch, keyHeads, group, count, size;
  /// Whether masks or padding may hide all keys from some query in some step of
  /// ring attention.
  bool hides;
  /// User's attention mask, or null. The shape is [batch, key heads, query
  /// heads per key head, query stripes, ranks, queries of a rank, key stripes,
  /// ranks, keys of a rank]. A dim has size 1 if the mask broadcasts along it.
  Value mask;
  /// Whether the user's mask has a dim of queries (`hasRows`), and whether it
  /// has a dim of keys (`hasKeys`). A dim of size 1 does not count.
  bool hasRows = false, hasKeys = false;
};
} // namespace

/// Replaces the split attention op `op` by ordinary ops. They compute ring
/// attention, or one attention per stripe of the sequence if each rank has all
/// keys.
static SmallVector<Value, 2> expandAttention(const ShardedOp &op,
                                             ShardedBuilder &b) {
  return {ringAxes(op).empty() ? StripedAttention(op, b).expand()
                               : RingAttentionExpansion(op, b).expand()};
}

void pcc::shard::addAttentionExpansions(Expansions &expansions) {
  expansions.add<graph::AttentionOp>(expandAttention);
}
