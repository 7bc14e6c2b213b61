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
/// (contiguous piece of the sequence). The shape of each member is [batch, key
/// heads, ranks, query heads per key head, queries of a rank, last dim]. All
/// members are null before the first step:
///
///   member   for each query                   last dim
///   top      largest score so far             1
///   sum      sum of exp(score - top)          1
///   out      sum of exp(score - top) · value  width of the values
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

  /// Builds new ops, such as matmuls and exponentials, that compute the result
  /// of the attention op in the steps of ring attention. In each step, a rank
  /// computes with another part of the keys and values. Returns the value that
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
      // Each step of ring attention computes with one part of the keys and
      // values. Between two steps, each rank receives the next part from the
      // rank after it, and the last rank receives it from rank 0. Create the
      // ops that send the part of the next step before the ops that compute
      // this step, so that ranks can send and compute at the same time.
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
  /// attention. If no mesh axis splits the last dim of the values, returns one
  /// tensor, in which keys and values are joined along their last dim.
  /// Otherwise returns two tensors: the keys, then the values. The shape of
  /// each tensor is
  ///
  ///   [batch, key heads, stripes, tokens of a stripe with padding, last dim]
  ///
  /// A stripe is a contiguous piece of the sequence. The tokens of each stripe
  /// are padded so that each rank gets an equal part. If the keys have 64
  /// elements per token and the values have 32, the last dim of the joined
  /// tensor has size 96.
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

  /// Returns `keyValue` (keys, values, or both) after its tokens have moved by
  /// one rank, as between two steps of ring attention. In each stripe, rank r
  /// gets the part of rank r + 1, and the last rank gets the part of rank 0.
  /// The shape is [batch, key heads, stripes, padded tokens, last dim]. Example
  /// with a stripe (piece of the sequence) of 6 tokens on 3 ranks:
  ///
  ///   rank            0     1     2
  ///   tokens before   0 1   2 3   4 5
  ///   tokens after    2 3   4 5   0 1
  Value moved(Value keyValue) {
    SmallVector<int64_t> from;
    for (int64_t i = 0; i < count * size; ++i)
      from.push_back((i + size) % (count * size));
    return b.takeAlong(keyValue, 3, from);
  }

  /// Returns the keys and the values of an attention as two tensors.
  /// `keyValues` contains either these two tensors, or one tensor in which keys
  /// and values are joined along the last dim. The one tensor is cut by two
  /// slices. For example, keys with 64 elements per token and values with 32
  /// elements per token are joined to 96 elements per token. The slices then
  /// return elements 0 to 63 and elements 64 to 95.
  std::pair<Value, Value> separate(ArrayRef<Value> keyValues) {
    if (keyValues.size() == 2)
      return {keyValues[0], keyValues[1]};
    const int64_t depth = dimOf(attention.getKey(), 3),
                  width = dimOf(attention.getValue(), 3);
    return {b.sliceDim(keyValues[0], 4, 0, depth),
            b.sliceDim(keyValues[0], 4, depth, width)};
  }

  /// Returns the keys or values `keyValue` of stripes 0 to `stripe`, sorted by
  /// rank. A stripe is a contiguous piece of the sequence. The causal mask
  /// hides later stripes from the queries of stripe `stripe`. Changes [batch,
  /// key heads, stripes, tokens, last dim] to [batch, key heads, ranks, tokens
  /// of a rank, last dim]. Example with `stripe` = 1, 2 ranks and 3 stripes:
  ///
  ///   tokens of stripes 0, 1 and 2   0 1 2 3 | 4 5 6 7 | 8 9 10 11
  ///   result, for ranks 0 and 1      0 1 4 5 | 2 3 6 7
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

  /// Stores the user's attention mask, reshaped to nine dims, in the member
  /// `mask`. The member becomes null if there is no mask. The dim of query
  /// heads becomes key heads, and query heads per key head. The dims of queries
  /// and of keys become stripes (pieces of the sequence), parts of a stripe
  /// (one per rank), and tokens of a part. A dim of size 1 broadcasts, and
  /// becomes dims of size 1. For example, with 2 key heads and 4 stripes on 2
  /// ranks, [batch, 8, 16, 16] becomes [batch, 2, 4, 4, 2, 2, 4, 2, 2].
  void makeMask() {
    mask = attention.getMask();
    if (!mask)
      return;
    SmallVector<int64_t> shape(graph::tensorType(mask).getShape());
    shape.insert(shape.begin(), 4 - shape.size(), 1);
    mask = b.reshape(mask, shape);
    hasRows = shape[2] > 1;
    hasKeys = shape[3] > 1;
    // Pad the dim of queries (if `hasRows`) and the dim of keys (if `hasKeys`),
    // so that each rank gets the same number of tokens. For example, 10 tokens
    // on 4 ranks are padded to 12 tokens, 3 per rank.
    //
    // If the sequence is cut into several stripes (contiguous pieces), the
    // calls of padDim add nothing. pcc cuts a sequence into stripes only if
    // ranks can divide each stripe evenly.
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
  /// stripes 0 to `stripe`. Returns null if there is no mask. A stripe is a
  /// piece of the sequence, and each of the c ranks has one part of it. The
  /// shape is [batch, key heads, pairs, query heads per key head, queries of a
  /// part, keys of a part]. A dim has size 1 if the mask broadcasts along it.
  /// The pairs are (part of queries, part of keys), in the order (0,0), (0,1)
  /// and so on. There are c · c pairs if the mask depends on query and key.
  /// There are c if it depends on only one of them, and 1 if on neither.
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

  /// Returns the part of the mask `own`, which maskOf returns, for step `step`
  /// of ring attention. On c ranks, rank p then has part p of the queries and
  /// part (p + step) mod c of the keys. A mask of queries and keys has c · c
  /// such pairs of parts, and the result has the c pairs of this step. A mask
  /// of keys has c parts, and the result has them in the order of the ranks.
  /// Any other mask is returned as it is. Example for c = 3 and step = 1:
  ///
  ///   `own`    (0,0) (0,1) (0,2) (1,0) (1,1) (1,2) (2,0) (2,1) (2,2)
  ///   result   (0,1) (1,2) (2,0)
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

  /// Returns the causal mask for step `step` of ring attention. The mask is
  /// true where the key is not after the query in the sequence. The queries are
  /// those of stripe `stripe` (piece of the sequence), and the keys are those
  /// of stripes 0 to `stripe`. On c ranks, rank p has part p of the queries and
  /// part (p + step) mod c of the keys of each stripe. The mask broadcasts to
  /// the scores [batch, key heads, ranks, query heads per key head, queries,
  /// keys]. Returns null if the attention is not causal.
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
    // After step 0, rank p has part p of the queries and part (p + step) mod c
    // of the keys of each stripe. A query sees all keys of earlier stripes. It
    // sees the keys of its own stripe only if their part is before the part of
    // the query. This is so if p + step >= c. For c = 4 and step 1, only rank 3
    // sees them: its queries are in part 3, and its keys are in part 0.
    Value hasWrapped = b.compare(Predicate::GreaterOrEqual, index(count, 2),
                                 number(count - step));
    return stripe == 0
               ? hasWrapped
               : b.make<graph::OrOp>(hasWrapped, b.compare(Predicate::Less, key,
                                                           number(before)));
  }

  /// Returns a Boolean mask of keys. It is true for the keys of the sequence,
  /// and false for padding. Padding is added after the last key, so that each
  /// rank gets an equal part of the keys. In each step of ring attention, a
  /// rank has another part. The mask is for the parts in step number `step`.
  ///
  /// Returns null if there is no padding. Also returns null if the attention is
  /// causal, because the causal mask hides the padding: padding comes after all
  /// queries.
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

  /// Returns `value` times `factor`. The elements of `value` are f32 or f64. If
  /// they are f32, the constant in the IR is `factor` rounded to f32. If this
  /// rounding changes `factor`, the function returns the sum of two products:
  ///
  ///   value · rounded + value · (factor - rounded)
  ///
  /// The second product cancels the error of the rounding. This matters for
  /// `pcc verify`, which computes all ops in f64.
  Value scaled(Value value, double factor) {
    Value product = b.make<graph::MulOp>(value, b.scalarLike(value, factor));
    const double rest = factor - static_cast<float>(factor);
    if (rest == 0 || graph::tensorType(value).getElementType().isF64())
      return product;
    return b.make<graph::AddOp>(
        product, b.make<graph::MulOp>(value, b.scalarLike(value, rest)));
  }

  /// Returns the scores of one step of ring attention: query times key, times
  /// the scale of the attention op. With a soft cap, each score becomes cap ·
  /// tanh(score / cap). `group` is the number of query heads per key head. The
  /// dims `queries` and `keys` count the tokens of one rank:
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

  /// Returns, for each query, the sum over all keys of the vector `value` of
  /// the key times its weight `power`. For example, the weights 0.5 and 1 and
  /// the vectors (2, 4) and (1, 1) give (2, 3). A vector has n elements.
  /// `group` is the number of query heads per key head. The dims `queries` and
  /// `keys` count the tokens of one rank in one step:
  ///
  ///   `power`   [batch, key heads, ranks, group, queries, keys]
  ///   `value`   [batch, key heads, ranks, keys, n]
  ///   result    [batch, key heads, ranks, group, queries, n]
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

  /// The attention op that is replaced, and the mesh axes that split its dims.
  const ShardedOp &ring;
  /// Mesh axes (or parts of them) that split the queries and the keys. In each
  /// step of ring attention, ranks along these axes send their keys and values
  /// to each other.
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
  /// The user's attention mask, reshaped to nine dims by makeMask. Null if the
  /// user gives no mask. The dims are
  ///
  ///   dims 0 to 2   batch, key heads, query heads per key head
  ///   dims 3 to 5   queries: stripes, parts of a stripe, tokens of a part
  ///   dims 6 to 8   keys:    stripes, parts of a stripe, tokens of a part
  ///
  /// A stripe is a contiguous piece of the sequence. Each stripe is cut into
  /// equal parts, one part per rank. For example, 16 queries in 4 stripes on 2
  /// ranks have 4 stripes, 2 parts per stripe and 2 tokens per part. A dim has
  /// size 1 if the mask broadcasts along this dim.
  Value mask;
  /// Whether the user's mask has a dim of queries (`hasRows`), and whether it
  /// has a dim of keys (`hasKeys`). A dim of size 1 does not count.
  bool hasRows = false, hasKeys = false;
};
} // namespace

/// Builds ordinary ops that replace the split attention op `op`. Returns the
/// value that replaces the result of `op`. There are two kinds of `op`:
///
/// - Ring attention: the keys move from rank to rank. The new ops compute all
///   steps of the ring. Each rank computes with another part of the keys in
///   each step.
/// - Attention in stripes (contiguous pieces of the sequence), where each rank
///   has all keys. The new ops are one attention op per stripe, and ops that
///   join the results.
///
/// `b` is the builder that creates the new ops.
static SmallVector<Value, 2> expandAttention(const ShardedOp &op,
                                             ShardedBuilder &b) {
  return {ringAxes(op).empty() ? StripedAttention(op, b).expand()
                               : RingAttentionExpansion(op, b).expand()};
}

void pcc::shard::addAttentionExpansions(Expansions &expansions) {
  expansions.add<graph::AttentionOp>(expandAttention);
}
