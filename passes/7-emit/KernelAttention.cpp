//===- KernelAttention.cpp - one element of attention ---------------------===//
//
// What gpu/FusedAttention*.cpp do for tiles, said of one element: processors
// run it where a program for GPUs is to be executed without one.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/KernelFloat.h"
#include "passes/7-emit/KernelWriter.h"
#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

using Values = SmallVector<Value>;

namespace {
struct Score {
  Value value, slope;
};

/// Of a row, what `graph.attention_query_gradient` tells of it.
struct Row {
  Value top, share, mean;
};

/// Numbers of one query, or of all queries of a key.
class AttentionElement {
public:
  AttentionElement(KernelWriter &w, Operation *op)
      : w(w), op(cast<graph::AttentionOpInterface>(op)), s(w.scalar()),
        query(graph::tensorType(this->op.getQuery())),
        key(graph::tensorType(this->op.getKey())),
        group(query.getDimSize(1) / key.getDimSize(1)),
        type(computeType(query.getElementType())),
        hidden(s.number(type, -HUGE_VAL)), zero(s.zero(type)) {}

  int64_t numKeys() const { return key.getDimSize(2); }
  int64_t numQueries() const { return query.getDimSize(2); }

  /// Σ a · b of rows of `size` elements.
  Value dot(Value a, const Place &rowOfA, Value b, const Place &rowOfB) {
    const int64_t size = graph::tensorType(a).getDimSize(3);
    return w.loop(size, {zero}, [&](const Index &i, ValueRange so) {
      auto element = [&](Value tensor, Place at) {
        at.push_back(i);
        return w.read(tensor, at);
      };
      return Values{
          s.add(so[0], s.mul(element(a, rowOfA), element(b, rowOfB)))};
    })[0];
  }

  Place keyPlace(ArrayRef<Index> row, const Index &t) {
    return {row[0], w.indices.quotient(row[1], group), t};
  }

  /// Of query `row`: batch, head, query.
  Score score(ArrayRef<Index> row, const Index &t) {
    Value slope = s.number(type, op.getScale().convertToDouble());
    Value value = s.mul(
        dot(op.getQuery(), Place(row), op.getKey(), keyPlace(row, t)), slope);
    if (const double cap = op.getSoftcap().convertToDouble(); cap > 0) {
      Value limit = s.number(type, cap);
      Value inner =
          math::TanhOp::create(w.builder, w.loc, s.divide(value, limit));
      value = s.mul(inner, limit);
      slope = s.mul(slope, s.sub(s.number(type, 1), s.mul(inner, inner)));
    }
    return {masked(value, row, t), slope};
  }

  Value weight(Value score, Value top) {
    Value isNone = s.compare(arith::CmpFPredicate::OEQ, top, hidden);
    return exponential(s, s.sub(score, s.select(isNone, zero, top)));
  }

  /// The largest score of a row, Σ P and Σ P x, with P = exp(score − largest),
  /// of what `x` is of each key.
  Values fold(ArrayRef<Index> row, llvm::function_ref<Value(const Index &)> x) {
    return w.loop(
        numKeys(), {hidden, zero, zero}, [&](const Index &t, ValueRange so) {
          Value own = score(row, t).value;
          Value top = s.larger(so[0], own, /*isUnsigned=*/false);
          Value scale = weight(so[0], top), weighed = weight(own, top);
          return Values{top, s.add(s.mul(so[1], scale), weighed),
                        s.add(s.mul(so[2], scale), s.mul(weighed, x(t)))};
        });
  }

  /// One over the sum of a row; 0 where it sees no key.
  Value shareOf(ValueRange folded) {
    Value isEmpty = s.compare(arith::CmpFPredicate::OEQ, folded[1], zero);
    return s.select(isEmpty, zero, s.divide(s.number(type, 1), folded[1]));
  }
  /// What a row comes to.
  Value meanOf(ValueRange folded) { return s.mul(folded[2], shareOf(folded)); }

  /// dP of a query and a key.
  Value product(Value gradient, ArrayRef<Index> row, const Index &t) {
    return dot(gradient, Place(row), op.getValue(), keyPlace(row, t));
  }

  /// The weight of a key, and slope · weight · (dP − mean).
  std::pair<Value, Value> centred(Value gradient, ArrayRef<Index> row,
                                  const Index &t, const Row &numbers) {
    const Score own = score(row, t);
    Value weighed = s.mul(weight(own.value, numbers.top), numbers.share);
    Value difference = s.sub(product(gradient, row, t), numbers.mean);
    return {weighed, s.mul(s.mul(weighed, difference), own.slope)};
  }

  /// Σ of `x` of all queries, batch and head and query, that read a key head.
  Value sumOfQueries(const Index &batch, const Index &keyHead,
                     llvm::function_ref<Value(ArrayRef<Index>)> x) {
    return w.loop(group * numQueries(), {zero},
                  [&](const Index &number, ValueRange so) {
                    const Place own =
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
  Value masked(Value score, ArrayRef<Index> row, const Index &t) {
    if (Value mask = op.getMask()) {
      Value own = w.readBroadcast(mask, {row[0], row[1], row[2], t});
      Type element = graph::tensorType(mask).getElementType();
      score = element.isInteger(1)
                  ? s.select(own, score, hidden)
                  : s.add(score, s.convert(own, element, type));
    }
    if (!op.getCausal())
      return score;
    Value last =
        s.add(w.materialise(row[2]),
              s.integer(w.builder.getI64Type(), numKeys() - numQueries()));
    return s.select(
        s.compare(arith::CmpIPredicate::sle, w.materialise(t), last), score,
        hidden);
  }

  RankedTensorType query, key;
  const int64_t group;
  Type type;
  Value hidden, zero;
};
} // namespace

static Value attention(KernelWriter &w, OpResult result, ArrayRef<Index> at) {
  AttentionElement element(w, result.getOwner());
  const ArrayRef<Index> row = at.take_front(3);
  return element.meanOf(element.fold(row, [&](const Index &t) {
    Place place = element.keyPlace(row, t);
    place.push_back(at[3]);
    return w.read(element.op.getValue(), place);
  }));
}

static Value queryGradient(KernelWriter &w, OpResult result,
                           ArrayRef<Index> at) {
  auto op = cast<graph::AttentionQueryGradientOp>(result.getOwner());
  AttentionElement element(w, op);
  const ArrayRef<Index> row = at.take_front(3);
  const Values folded = element.fold(row, [&](const Index &t) {
    return element.product(op.getGradient(), row, t);
  });
  const Row numbers{folded[0], element.shareOf(folded), element.meanOf(folded)};
  if (result == op.getTop())
    return numbers.top;
  if (result != op.getResult())
    return result == op.getShare() ? numbers.share : numbers.mean;
  return w.loop(element.numKeys(), {element.s.zero(numbers.top.getType())},
                [&](const Index &t, ValueRange so) {
                  Place place = element.keyPlace(row, t);
                  place.push_back(at[3]);
                  Value own =
                      element.centred(op.getGradient(), row, t, numbers).second;
                  return Values{element.s.add(
                      so[0], element.s.mul(own, w.read(op.getKey(), place)))};
                })[0];
}

static Value keyGradient(KernelWriter &w, OpResult result, ArrayRef<Index> at) {
  auto op = cast<graph::AttentionKeyGradientOp>(result.getOwner());
  AttentionElement element(w, op);
  const bool isOfKey = result == op.getKeyGradient();
  return element.sumOfQueries(at[0], at[1], [&](ArrayRef<Index> row) {
    const auto [weight, gradient] =
        element.centred(op.getGradient(), row, at[2],
                        {w.read(op.getTop(), row), w.read(op.getShare(), row),
                         w.read(op.getMean(), row)});
    Place place(row);
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
