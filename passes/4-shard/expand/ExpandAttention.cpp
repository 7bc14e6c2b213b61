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
/// State of the online softmax in ring attention, for all queries of one stripe
/// (piece of the sequence). All members are null before the first step.
///
///   member   for each query                   last dim
///   top      largest score so far             1
///   sum      sum of exp(score - top)          1
///   out      sum of exp(score - top) · value  width of the values
///
/// Each rank has one part of the queries. The shape of each member is
///
///   [batch, key heads, parts, query heads per key head, queries, last dim]
struct OnlineSoftmaxState {
  Value top, sum, out;
};

/// Replaces one attention op that is split as ring attention by ordinary ops.
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

  /// Builds the ordinary ops that compute a ring attention. Returns the value
  /// that replaces the result of the attention op.
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
      // Ring attention sends keys and values to the next step while this step
      // computes with the present ones.
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

  /// Cuts the tokens of queries into parts, one per rank of a ring attention:
  ///
  ///   from [batch, query heads, tokens, head size]
  ///   to   [batch, key heads, parts, group · tokens per part, head size]
  ///
  /// where `group` is the number of query heads per key head.
  Value cutQueries(Value query) {
    Value whole = b.padDim(query, 2, count * size, 0);
    const int64_t depth = dimOf(whole, 3);
    Value cut = b.reshape(whole, {batch, keyHeads, group, count, size, depth});
    if (group > 1)
      cut = transpose(cut, {0, 1, 3, 2, 4, 5});
    return b.reshape(cut, {batch, keyHeads, count, group * size, depth});
  }

  /// Returns the keys and values that ranks send to each other in ring
  /// attention. They are one tensor, joined along the last dim, if
  /// ringPacksKeysAndValues allows that; otherwise they are two. The shape is
  ///
  ///   [batch, key heads, stripes, tokens of a stripe with padding, …]
  ///
  /// where a stripe is a piece of the sequence.
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

  /// Returns `keyValue` after one step of the ring. Rank r gets the part of
  /// rank r + 1, and the last rank gets the part of rank 0.
  Value moved(Value keyValue) {
    SmallVector<int64_t> from;
    for (int64_t i = 0; i < count * size; ++i)
      from.push_back((i + size) % (count * size));
    return b.takeAlong(keyValue, 3, from);
  }

  /// Returns the keys and the values. If `keyValues` is one tensor in which
  /// both are joined, slices it.
  std::pair<Value, Value> separate(ArrayRef<Value> keyValues) {
    if (keyValues.size() == 2)
      return {keyValues[0], keyValues[1]};
    const int64_t depth = dimOf(attention.getKey(), 3),
                  width = dimOf(attention.getValue(), 3);
    return {b.sliceDim(keyValues[0], 4, 0, depth),
            b.sliceDim(keyValues[0], 4, depth, width)};
  }

  /// Returns a slice of keys (or values) with the stripes 0 to `stripe`. A
  /// stripe is a piece of the sequence. Under the causal mask, the queries of
  /// stripe `stripe` see only these keys. In ring attention, each rank has one
  /// part of them:
  ///
  ///   [batch, key heads, parts, tokens per part, …]
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

  /// Reshapes the user's attention mask and stores it in `mask`. In ring
  /// attention, the query dim and the key dim of the mask become three dims
  /// each: stripes (pieces of the sequence), parts (one per rank), and tokens:
  ///
  ///   [batch, key heads, query heads per key head,
  ///    stripes, parts, tokens (of queries), stripes, parts, tokens (of keys)]
  ///
  /// A dim along which the mask broadcasts has size 1.
  void makeMask() {
    mask = attention.getMask();
    if (!mask)
      return;
    SmallVector<int64_t> shape(graph::tensorType(mask).getShape());
    shape.insert(shape.begin(), 4 - shape.size(), 1);
    mask = b.reshape(mask, shape);
    hasRows = shape[2] > 1;
    hasKeys = shape[3] > 1;
    // Pad the tokens, so that each rank gets an equal part. With several
    // stripes (pieces of the sequence), no padding is needed: the sequence is
    // cut into stripes only if all parts are equal.
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

  /// Returns the user's attention mask for the queries of one stripe (piece of
  /// the sequence), and the keys of this and of earlier stripes. The shape is
  ///
  ///   [batch, key heads, pairs, query heads per key head, queries, keys]
  ///
  /// In ring attention, the queries and the keys have c parts each, one per
  /// rank. The size of the dim `pairs` depends on the dims of the user's mask:
  ///
  ///   mask depends on              pairs
  ///   queries and keys             c · c (part of queries, part of keys)
  ///   only one of them             c
  ///   neither (it is broadcast)    1
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

  /// Slices the attention mask of one stripe (piece of the sequence) of queries
  /// for one step of ring attention. `own` is the mask for all steps. In this
  /// step, part p of the queries meets part (p + step) mod c of the c parts of
  /// the keys.
  Value maskIn(int64_t step, Value own) {
    if (!hasKeys)
      return own;
    SmallVector<int64_t> from;
    for (int64_t part = 0; part < count; ++part)
      from.push_back((hasRows ? part * count : 0) + (part + step) % count);
    return b.takeAlong(own, 2, from);
  }

  /// Returns the numbers 0, 1, …, length - 1 along dim `dim` of a tensor of six
  /// dims. Every other dim has size 1. The tensor broadcasts to the scores of
  /// one step of ring attention:
  ///
  ///   [batch, key heads, parts, query heads per key head, queries, keys]
  ///
  /// Dim 2 (parts, one per rank) is split over the ranks.
  Value index(int64_t length, int64_t dim) {
    dist::DimSharding split;
    if (dim == 2)
      split = dist::splitOver(count, axes);
    return b.iota(length, dim, 6, b.getI64Type(), split);
  }

  /// Returns `value` as a scalar constant of type i64.
  Value number(int64_t value) { return b.scalar(b.getI64Type(), value); }

  /// Returns the causal mask for the scores of one step of ring attention, and
  /// for the queries of one stripe (piece of the sequence). It is true where
  /// the key is not after the query. Returns null if the attention is not
  /// causal.
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
    // In step s > 0 of ring attention, part p of the queries meets part (p + s)
    // mod c of the c parts of the keys. Keys of earlier stripes (pieces of the
    // sequence) are visible. Keys of this stripe are visible only if p + s >=
    // c, because their part then comes before part p.
    Value hasWrapped = b.compare(Predicate::GreaterOrEqual, index(count, 2),
                                 number(count - step));
    return stripe == 0
               ? hasWrapped
               : b.make<graph::OrOp>(hasWrapped, b.compare(Predicate::Less, key,
                                                           number(before)));
  }

  /// Returns a mask that hides padding in the scores of one step of ring
  /// attention. It is false for keys that are only padding. Returns null
  /// without padding, and for causal attention, whose causal mask hides the
  /// padding.
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

  /// Applies all masks to `scores`: the causal mask, the mask of padding and
  /// the user's `mask`. The scores are those of one step of ring attention and
  /// one stripe (piece of the sequence) of queries. A user's mask of Booleans
  /// hides scores where it is false. A mask of numbers is added to the scores.
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

  /// Returns `value` times `factor`, with the accuracy that verification in f64
  /// needs. The constant `factor` may be rounded to f32. Therefore the product
  /// of `value` and the rounding error is added.
  Value scaled(Value value, double factor) {
    Value product = b.make<graph::MulOp>(value, b.scalarLike(value, factor));
    const double rest = factor - static_cast<float>(factor);
    if (rest == 0 || graph::tensorType(value).getElementType().isF64())
      return product;
    return b.make<graph::AddOp>(
        product, b.make<graph::MulOp>(value, b.scalarLike(value, rest)));
  }

  /// Returns the scaled scores of one step of ring attention. With a soft cap,
  /// each score becomes cap · tanh(score / cap). Each rank has one part of the
  /// queries. The shape is
  ///
  ///   [batch, key heads, parts, query heads per key head, queries, keys]
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
    // instead.
    if (hides)
      top = b.make<graph::SelectOp>(
          b.compare(Predicate::Greater, top, b.scalarLike(top, -HUGE_VAL)), top,
          b.scalarLike(top, 0));
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

  /// Returns, for each query, the sum over the keys of power · value. `power`
  /// is the exponential of a score. Each rank has one part of the queries. The
  /// shape is
  ///
  ///   [batch, key heads, parts, query heads per key head, queries, width]
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

  /// Returns the attention result for one stripe (piece of the sequence), from
  /// the last state `rows` of the online softmax. A query that sees no key has
  /// the result 0. The shape is
  ///
  ///   [batch, query heads, tokens of the stripe, width of the values]
  Value finish(const OnlineSoftmaxState &rows) {
    Value mean = b.make<graph::DivOp>(rows.out, rows.sum);
    if (hides)
      mean = b.make<graph::SelectOp>(
          b.compare(Predicate::Greater, rows.sum, b.scalarLike(rows.sum, 0)),
          mean, b.scalarLike(mean, 0));
    Value result =
        b.cast(mean, graph::tensorType(attention.getResult()).getElementType());
    if (group > 1)
      result = transpose(result, {0, 1, 3, 2, 4, 5});
    result = b.reshape(
        result, {batch, keyHeads * group, count * size, dimOf(result, 5)});
    return b.sliceDim(result, 2, 0, length);
  }

  /// The attention op, split as ring attention, and the axes along which its
  /// keys move.
  const ShardedOp &ring;
  dist::SubAxes axes;
  /// Sizes in ring attention. A stripe is a piece of the sequence. Each stripe
  /// is cut into equal parts, one per rank:
  ///
  ///   batch      size of the batch
  ///   keyHeads   number of key heads
  ///   group      number of query heads per key head
  ///   count      number of parts, and of ranks
  ///   size       tokens in one part of one stripe, with padding
  int64_t batch, keyHeads, group, count, size;
  /// Whether masks or padding may hide all keys from some query in some step of
  /// ring attention.
  bool hides;
  /// The user's attention mask, in the shape that makeMask gives it; null if
  /// the user gives none.
  Value mask;
  /// Whether the user's mask has a dim of queries (`hasRows`), and whether it
  /// has a dim of keys (`hasKeys`). A dim of size 1 does not count.
  bool hasRows = false, hasKeys = false;
};
} // namespace

/// Builds ordinary ops that replace a split attention op. If keys move from
/// rank to rank, they are the steps of ring attention. Otherwise they are one
/// attention per stripe (piece of the sequence).
static SmallVector<Value, 2> expandAttention(const ShardedOp &op,
                                             ShardedBuilder &b) {
  return {ringAxes(op).empty() ? StripedAttention(op, b).expand()
                               : RingAttentionExpansion(op, b).expand()};
}

void pcc::shard::addAttentionExpansions(Expansions &expansions) {
  expansions.add<graph::AttentionOp>(expandAttention);
}
