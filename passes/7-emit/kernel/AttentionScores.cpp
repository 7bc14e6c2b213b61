//===- AttentionScores.cpp - attention scores, and attention by element ---===//
//
// Besides scores and weights, the file holds code of attention and of its
// gradients that computes each element on its own. Processors run this code
// when a program for GPUs is executed without a GPU. The code for GPUs works on
// tiles (gpu/kernel/FusedAttention.cpp).
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/kernel/AttentionScores.h"
#include "passes/7-emit/kernel/MathFunctions.h"
#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Score pcc::emit::scoreOf(KernelWriter &w, graph::AttentionOpInterface op,
                         Value product, ArrayRef<Index> row, const Index &key,
                         Value isThere) {
  ScalarBuilder s = w.scalar();
  Type type = product.getType();
  Value slope = s.number(type, op.getScale().convertToDouble());
  Value value = s.mul(product, slope);
  if (const double cap = op.getSoftcap().convertToDouble(); cap > 0) {
    Value limit = s.number(type, cap);
    Value inner =
        math::TanhOp::create(w.builder, w.loc, s.divide(value, limit));
    value = s.mul(inner, limit);
    slope = s.mul(slope, s.sub(s.number(type, 1), s.mul(inner, inner)));
  }
  Value isSeen = isThere;
  auto require = [&](Value condition) {
    isSeen = isSeen ? s.both(isSeen, condition) : condition;
  };
  if (op.getCausal()) {
    const int64_t ahead = graph::tensorType(op.getKey()).getDimSize(2) -
                          graph::tensorType(op.getQuery()).getDimSize(2);
    const Index last = w.indices.add(row[2], IndexSpace::constant(ahead));
    require(s.compare(arith::CmpIPredicate::sle, w.materialise(key),
                      w.materialise(last)));
  }
  if (Value mask = op.getMask()) {
    Value own = w.readBroadcast(mask, {row[0], row[1], row[2], key});
    Type element = graph::tensorType(mask).getElementType();
    if (element.isInteger(1))
      require(own);
    else
      value = s.add(value, s.convert(own, element, type));
  }
  if (isSeen)
    value = s.select(isSeen, value, s.number(type, -HUGE_VAL));
  return {value, slope};
}

Value pcc::emit::weightOf(KernelWriter &w, Value score, Value top) {
  ScalarBuilder s = w.scalar();
  Type type = top.getType();
  Value isNone =
      s.compare(arith::CmpFPredicate::OEQ, top, s.number(type, -HUGE_VAL));
  Value reference = s.select(isNone, s.zero(type), top);
  return exponential(s, s.sub(score, reference));
}

Value pcc::emit::inverseTotalOf(KernelWriter &w, Value total) {
  ScalarBuilder s = w.scalar();
  Type type = total.getType();
  Value isEmpty = s.compare(arith::CmpFPredicate::OEQ, total, s.zero(type));
  return s.select(isEmpty, s.zero(type), s.divide(s.number(type, 1), total));
}

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

namespace {
/// Three numbers per query, which the gradients of attention need. P is the
/// softmax weight of a key, and dP the gradient of P:
///
///   top     largest score
///   share   1 / Σ exp(score − top), the factor that normalizes the weights
///   mean    Σ P · dP over the keys
struct RowStatistics {
  Value top, share, mean;
};

/// Emits code that computes one element of the result or of a gradient of
/// attention. The result and the gradient of queries loop over keys. The
/// gradients of keys and values loop over queries. `group` is the number of
/// query heads per key head.
class AttentionElement {
public:
  AttentionElement(KernelWriter &w, Operation *op)
      : w(w), op(cast<graph::AttentionOpInterface>(op)), s(w.scalar()),
        query(graph::tensorType(this->op.getQuery())),
        key(graph::tensorType(this->op.getKey())),
        group(query.getDimSize(1) / key.getDimSize(1)),
        type(computeType(query.getElementType())), zero(s.zero(type)) {}

  int64_t numKeys() const { return key.getDimSize(2); }
  int64_t numQueries() const { return query.getDimSize(2); }

  /// Emits the dot product of two rows of 4-d tensors, along the last dim.
  /// `rowOfA` and `rowOfB` are the indices along the first three dims.
  Value dot(Value a, const MultiIndex &rowOfA, Value b,
            const MultiIndex &rowOfB) {
    const int64_t size = graph::tensorType(a).getDimSize(3);
    return w.loop(size, {zero}, [&](const Index &i, ValueRange so) {
      auto element = [&](Value tensor, MultiIndex at) {
        at.push_back(i);
        return w.read(tensor, at);
      };
      return Values{
          s.add(so[0], s.mul(element(a, rowOfA), element(b, rowOfB)))};
    })[0];
  }

  /// Returns the multi-index [batch, key head, t] of key `t` for the query at
  /// `row` = [batch, head, query]. Several query heads share a key head.
  MultiIndex keyPlace(ArrayRef<Index> row, const Index &t) {
    return {row[0], w.indices.quotient(row[1], group), t};
  }

  /// Emits the score (masked dot product) of the query at `row` and key `t`.
  Score score(ArrayRef<Index> row, const Index &t) {
    return scoreOf(
        w, op,
        dot(op.getQuery(), MultiIndex(row), op.getKey(), keyPlace(row, t)), row,
        t);
  }

  /// Emits an online softmax over the keys of the query at `row` (Milakov and
  /// Gimelshein 2018). Returns the largest score m, Σ P and Σ P · x. P =
  /// exp(score − m) is the weight of a key. `x` emits a number for each key.
  Values fold(ArrayRef<Index> row, llvm::function_ref<Value(const Index &)> x) {
    return w.loop(numKeys(), {s.number(type, -HUGE_VAL), zero, zero},
                  [&](const Index &t, ValueRange so) {
                    Value own = score(row, t).value;
                    Value top = s.larger(so[0], own, /*isUnsigned=*/false);
                    Value scale = weightOf(w, so[0], top),
                          weighed = weightOf(w, own, top);
                    return Values{
                        top, s.add(s.mul(so[1], scale), weighed),
                        s.add(s.mul(so[2], scale), s.mul(weighed, x(t)))};
                  });
  }

  /// Emits the weighted mean Σ P · x / Σ P, where P are the weights of the
  /// keys. `folded` is the result of fold(), which contains both sums. Emits 0
  /// if all weights are 0.
  Value meanOf(ValueRange folded) {
    return s.mul(folded[2], inverseTotalOf(w, folded[1]));
  }

  /// Emits the gradient of one softmax weight (dP), for the query at `row` =
  /// [batch, head, query] and key `t`. `gradient` is the gradient of the
  /// attention's result.
  Value product(Value gradient, ArrayRef<Index> row, const Index &t) {
    return dot(gradient, MultiIndex(row), op.getValue(), keyPlace(row, t));
  }

  /// Emits the softmax weight P of key `t` for the query at `row`, and the
  /// gradient of the query-key dot product. This gradient is slope · P ·
  /// (dP − mean). dP is the gradient of P (product()), mean is `numbers.mean`,
  /// and slope is Score::slope. `gradient` is the gradient of the attention's
  /// result.
  std::pair<Value, Value> centred(Value gradient, ArrayRef<Index> row,
                                  const Index &t,
                                  const RowStatistics &numbers) {
    const Score own = score(row, t);
    Value weighed = s.mul(weightOf(w, own.value, numbers.top), numbers.share);
    Value difference = s.sub(product(gradient, row, t), numbers.mean);
    return {weighed, s.mul(s.mul(weighed, difference), own.slope)};
  }

  /// Emits a sum over all queries of batch element `batch` that read key head
  /// `keyHead`. Several query heads can read one key head
  /// (grouped-query attention). `x` emits the summand of the query at a
  /// multi-index [batch, head, query].
  Value sumOfQueries(const Index &batch, const Index &keyHead,
                     llvm::function_ref<Value(ArrayRef<Index>)> x) {
    return w.loop(group * numQueries(), {zero},
                  [&](const Index &number, ValueRange so) {
                    const MultiIndex own =
                        w.indices.delinearise(number, {group, numQueries()});
                    const Index head =
                        w.indices.add(w.indices.scale(keyHead, group), own[0]);
                    return Values{s.add(so[0], x({batch, head, own[1]}))};
                  })[0];
  }

  KernelWriter &w;
  graph::AttentionOpInterface op;
  ScalarBuilder s;

private:
  RankedTensorType query, key;
  const int64_t group;
  Type type;
  Value zero;
};
} // namespace

/// Emits element [batch, head, query, column] of the result of an attention op.
static Value attention(KernelWriter &w, OpResult result, ArrayRef<Index> at) {
  AttentionElement element(w, result.getOwner());
  const ArrayRef<Index> row = at.take_front(3);
  return element.meanOf(element.fold(row, [&](const Index &t) {
    MultiIndex place = element.keyPlace(row, t);
    place.push_back(at[3]);
    return w.read(element.op.getValue(), place);
  }));
}

/// Emits the element at `at` of a result of attention_query_gradient. The
/// result is the gradient of the queries, or one of the three numbers per query
/// of RowStatistics.
static Value queryGradient(KernelWriter &w, OpResult result,
                           ArrayRef<Index> at) {
  auto op = cast<graph::AttentionQueryGradientOp>(result.getOwner());
  AttentionElement element(w, op);
  const ArrayRef<Index> row = at.take_front(3);
  const Values folded = element.fold(row, [&](const Index &t) {
    return element.product(op.getGradient(), row, t);
  });
  const RowStatistics numbers{folded[0], inverseTotalOf(w, folded[1]),
                              element.meanOf(folded)};
  if (result == op.getTop())
    return numbers.top;
  if (result != op.getResult())
    return result == op.getShare() ? numbers.share : numbers.mean;
  return w.loop(element.numKeys(), {element.s.zero(numbers.top.getType())},
                [&](const Index &t, ValueRange so) {
                  MultiIndex place = element.keyPlace(row, t);
                  place.push_back(at[3]);
                  Value own =
                      element.centred(op.getGradient(), row, t, numbers).second;
                  return Values{element.s.add(
                      so[0], element.s.mul(own, w.read(op.getKey(), place)))};
                })[0];
}

/// Emits an element of a result of attention_key_gradient: the gradient of the
/// keys or of the values.
static Value keyGradient(KernelWriter &w, OpResult result, ArrayRef<Index> at) {
  auto op = cast<graph::AttentionKeyGradientOp>(result.getOwner());
  AttentionElement element(w, op);
  const bool isOfKey = result == op.getKeyGradient();
  return element.sumOfQueries(at[0], at[1], [&](ArrayRef<Index> row) {
    const auto [weight, gradient] =
        element.centred(op.getGradient(), row, at[2],
                        {w.read(op.getTop(), row), w.read(op.getShare(), row),
                         w.read(op.getMean(), row)});
    MultiIndex place(row);
    place.push_back(at[3]);
    return isOfKey ? element.s.mul(gradient, w.read(op.getQuery(), place))
                   : element.s.mul(weight, w.read(op.getGradient(), place));
  });
}

void pcc::emit::addAttentionReads(ReadTable &table) {
  table.addResults<graph::AttentionOp>(attention);
  table.addResults<graph::AttentionQueryGradientOp>(queryGradient);
  table.addResults<graph::AttentionKeyGradientOp>(keyGradient);
}
