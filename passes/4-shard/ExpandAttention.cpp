//===- ExpandAttention.cpp - attention whose keys go round ----------------===//
//
// The dim of queries and that of keys are cut into the c parts of the ring,
// [c@axis, size]; part p of the queries and part p of the keys are on one rank.
// In step i the keys have moved by i parts, so that a product batched over the
// parts is all that is needed:
//
//   scores  [B, K, c, R·size, size] = query [B, K, c, R·size, D] · keyᵀ
//   part p of the queries meets part (p + i) mod c of the keys
//
// Rows keep the largest score so far, the sum of their powers and the sum of
// values weighted by these; both sums shrink when a larger score comes:
//
//   top' = max(top, max scores)    power = exp(scores - top')
//   sum' = sum · exp(top - top') + Σ power
//   out' = out · exp(top - top') + power · value        result = out / sum
//
//===----------------------------------------------------------------------===//

#include "passes/4-shard/Expansions.h"
#include "passes/4-shard/Ring.h"
#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;
using graph::Predicate;

namespace {
/// What rows know after some of the steps.
struct Rows {
  Value top, sum, out;
};

class RingExpansion {
public:
  RingExpansion(const ShardedOp &op, ShardedBuilder &b)
      : b(b), ring(op), attention(cast<graph::AttentionOp>(op.op)),
        axes(ringAxes(op)) {
    auto query = graph::tensorType(attention.getQuery()).getShape(),
         key = graph::tensorType(attention.getKey()).getShape();
    batch = query[0];
    keyHeads = key[1];
    group = query[1] / key[1];
    whole = query[2];
    count = dist::numParts(axes);
    size = llvm::divideCeil(whole, count);
    hides =
        attention.getMask() || attention.getCausal() || count * size != whole;
  }

  Value expand() {
    makeQuery();
    makeMask();
    SmallVector<Value, 2> guests = makeGuests();
    Rows rows;
    for (int64_t step = 0; step < count; ++step) {
      // What is next travels while these parts are looked at.
      SmallVector<Value, 2> next;
      if (step + 1 < count)
        for (Value guest : guests)
          next.push_back(moved(guest));
      auto [key, value] = separate(guests);
      rows = attend(rows, masked(scores(key), step), value);
      guests = next;
    }
    return finish(rows);
  }

private:
  static int64_t dimOf(Value value, int64_t dim) {
    return graph::tensorType(value).getDimSize(dim);
  }

  Value transpose(Value value, ArrayRef<int64_t> dims) {
    return b.make<graph::TransposeOp>(value, dims);
  }

  /// `value` with dim 2, of all tokens, in whole parts.
  Value padded(Value value) { return b.padDim(value, 2, count * size, 0); }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  /// [B, K·R, S, D] to [B, K, c, R·size, D].
  void makeQuery() {
    Value whole = padded(attention.getQuery());
    const int64_t depth = dimOf(whole, 3);
    Value cut = b.reshape(whole, {batch, keyHeads, group, count, size, depth});
    if (group > 1)
      cut = transpose(cut, {0, 1, 3, 2, 4, 5});
    query = b.reshape(cut, {batch, keyHeads, count, group * size, depth});
  }

  /// Keys and values as they travel, together where they can.
  SmallVector<Value, 2> makeGuests() {
    SmallVector<Value, 2> guests{attention.getKey(), attention.getValue()};
    if (ringPacks(ring))
      guests = {
          b.make<graph::ConcatOp>(ValueRange(guests), b.getI64IntegerAttr(3))};
    for (Value &guest : guests)
      guest = padded(guest);
    return guests;
  }

  /// Every rank gets the part of the next one.
  Value moved(Value guest) {
    SmallVector<int64_t> from;
    for (int64_t i = 0; i < count * size; ++i)
      from.push_back((i + size) % (count * size));
    return b.takeAlong(guest, 2, from);
  }

  /// [B, K, c, size, D] of keys and of values.
  std::pair<Value, Value> separate(ArrayRef<Value> guests) {
    const int64_t depth = dimOf(attention.getKey(), 3),
                  width = dimOf(attention.getValue(), 3);
    Value key = guests.front(), value = guests.back();
    if (guests.size() == 1) {
      key = b.sliceDim(guests[0], 3, 0, depth);
      value = b.sliceDim(guests[0], 3, depth, width);
    }
    return {b.reshape(key, {batch, keyHeads, count, size, depth}),
            b.reshape(value, {batch, keyHeads, count, size, width})};
  }

  //===--------------------------------------------------------------------===//
  // Masks
  //===--------------------------------------------------------------------===//

  /// The user's mask as [B, K, n, R, rows, keys] with size 1 where it
  /// broadcasts; n are the pairs of parts if both are cut, else the parts of
  /// keys, or those of rows.
  void makeMask() {
    mask = attention.getMask();
    if (!mask)
      return;
    SmallVector<int64_t> shape(graph::tensorType(mask).getShape());
    shape.insert(shape.begin(), 4 - shape.size(), 1);
    mask = b.reshape(mask, shape);
    hasRows = shape[2] > 1;
    hasKeys = shape[3] > 1;
    if (hasRows)
      mask = padded(mask);
    if (hasKeys)
      mask = b.padDim(mask, 3, count * size, 0);
    const bool hasHeads = shape[1] > 1;
    mask = b.reshape(mask,
                     {shape[0], hasHeads ? keyHeads : 1, hasHeads ? group : 1,
                      hasRows ? count : 1, hasRows ? size : 1,
                      hasKeys ? count : 1, hasKeys ? size : 1});
    mask = transpose(mask, {0, 1, 3, 5, 2, 4, 6});
    SmallVector<int64_t> pairs(graph::tensorType(mask).getShape());
    pairs[2] *= pairs[3];
    pairs.erase(pairs.begin() + 3);
    mask = b.reshape(mask, pairs);
  }

  /// What part p of the queries needs of the mask in `step`.
  Value maskOf(int64_t step) {
    if (!hasKeys)
      return mask;
    SmallVector<int64_t> from;
    for (int64_t part = 0; part < count; ++part)
      from.push_back((hasRows ? part * count : 0) + (part + step) % count);
    return b.takeAlong(mask, 2, from);
  }

  /// 0, 1, … along one of the six dims of scores, of parts or within a part.
  Value index(int64_t length, int64_t dim) {
    dist::DimSharding split;
    if (dim == 2)
      split = dist::splitOver(count, axes);
    return b.iota(length, dim, 6, b.getI64Type(), split);
  }

  Value number(int64_t value) { return b.scalar(b.getI64Type(), value); }

  /// Which keys of `step` the queries see that come after them in the order of
  /// tokens; null if all are seen.
  Value seenInOrder(int64_t step) {
    if (!attention.getCausal())
      return {};
    if (step == 0)
      return b.compare(Predicate::LessOrEqual, index(size, 5), index(size, 4));
    // Parts that have gone round come before the queries.
    return b.compare(Predicate::GreaterOrEqual, index(count, 2),
                     number(count - step));
  }

  /// Which keys of `step` are no padding; null if all are. Where the order
  /// counts, padding comes after all queries.
  Value isKey(int64_t step) {
    if (count * size == whole || attention.getCausal())
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
                     number(whole));
  }

  Value hideUnless(Value visible, Value scores) {
    return visible ? b.make<graph::SelectOp>(visible, scores,
                                             b.scalarLike(scores, -HUGE_VAL))
                   : scores;
  }

  Value masked(Value scores, int64_t step) {
    scores = hideUnless(seenInOrder(step), scores);
    scores = hideUnless(isKey(step), scores);
    if (!mask)
      return scores;
    Value own = maskOf(step);
    Type element = graph::tensorType(own).getElementType();
    if (element.isInteger(1))
      return hideUnless(own, scores);
    return b.make<graph::AddOp>(
        scores, b.cast(own, graph::tensorType(scores).getElementType()));
  }

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  /// [B, K, c, R, size, size]
  Value scores(Value key) {
    Value product = b.make<graph::MatmulOp>(query, key, /*transpose_lhs=*/false,
                                            /*transpose_rhs=*/true);
    product = b.reshape(b.widen(product),
                        {batch, keyHeads, count, group, size, size});
    product = b.make<graph::MulOp>(
        product, b.scalarLike(product, attention.getScale().convertToDouble()));
    const double cap = attention.getSoftcap().convertToDouble();
    if (cap <= 0)
      return product;
    Value limit = b.scalarLike(product, cap);
    Value inner = b.make<graph::DivOp>(product, limit);
    return b.make<graph::MulOp>(b.make<graph::TanhOp>(inner), limit);
  }

  Rows attend(const Rows &before, Value scores, Value value) {
    Rows rows;
    rows.top = b.reduce(graph::ReduceKind::Max, scores, {5});
    if (before.top)
      rows.top = b.make<graph::MaxOp>(before.top, rows.top);
    Value top = rows.top;
    // Rows that have seen nothing yet.
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

  /// Σ power · value, [B, K, c, R, size, E].
  Value weighted(Value power, Value value) {
    Type element = graph::tensorType(value).getElementType();
    Value flat = b.reshape(b.cast(power, element),
                           {batch, keyHeads, count, group * size, size});
    Value sum = b.make<graph::MatmulOp>(flat, value, /*transpose_lhs=*/false,
                                        /*transpose_rhs=*/false);
    return b.reshape(b.widen(sum),
                     {batch, keyHeads, count, group, size, dimOf(value, 4)});
  }

  /// [B, K·R, S, E]
  Value finish(const Rows &rows) {
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
    return b.sliceDim(result, 2, 0, whole);
  }

  ShardedBuilder &b;
  const ShardedOp &ring;
  graph::AttentionOp attention;
  dist::SubAxes axes;
  int64_t batch, keyHeads, group, whole, count, size;
  bool hides; ///< some row may see nothing in some step
  Value query, mask;
  bool hasRows = false, hasKeys = false; ///< of the mask
};
} // namespace

static SmallVector<Value, 2> expandAttention(const ShardedOp &op,
                                             ShardedBuilder &b) {
  return {RingExpansion(op, b).expand()};
}

void pcc::shard::addAttentionExpansions(Expansions &expansions) {
  expansions.add<graph::AttentionOp>(expandAttention);
}
