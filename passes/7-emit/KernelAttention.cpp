//===- KernelAttention.cpp - one element of attention ---------------------===//
//
// What gpu/FusedAttention.cpp does for tiles, said of one element: processors
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
class AttentionElement {
public:
  AttentionElement(KernelWriter &w, graph::AttentionOp op, ArrayRef<Index> at)
      : w(w), op(op), at(at), s(w.scalar()),
        query(graph::tensorType(op.getQuery())),
        key(graph::tensorType(op.getKey())),
        type(computeType(query.getElementType())) {
    const int64_t group = query.getDimSize(1) / key.getDimSize(1);
    keyHead = w.indices.quotient(at[1], group);
  }

  Value write() {
    Value none = s.number(type, -HUGE_VAL);
    const Values so =
        w.loop(key.getDimSize(2), {none, s.zero(type), s.zero(type)},
               [&](const Index &t, ValueRange so) { return see(t, so); });
    Value isEmpty = s.compare(arith::CmpFPredicate::OEQ, so[1], s.zero(type));
    return s.select(isEmpty, s.zero(type), s.divide(so[2], so[1]));
  }

private:
  /// The largest score, the sum of weights and that of weighted values, with
  /// key `t`.
  Values see(const Index &t, ValueRange so) {
    Value own = score(t);
    Value top = s.larger(so[0], own, /*isUnsigned=*/false);
    Value isNone =
        s.compare(arith::CmpFPredicate::OEQ, top, s.number(type, -HUGE_VAL));
    Value reference = s.select(isNone, s.zero(type), top);
    Value scale = exponential(s, s.sub(so[0], reference)),
          weight = exponential(s, s.sub(own, reference));
    Value value = w.read(op.getValue(), {at[0], keyHead, t, at[3]});
    return {top, s.add(s.mul(so[1], scale), weight),
            s.add(s.mul(so[2], scale), s.mul(weight, value))};
  }

  Value score(const Index &t) {
    Value product =
        w.loop(query.getDimSize(3), {s.zero(type)},
               [&](const Index &d, ValueRange so) {
                 Value left = w.read(op.getQuery(), {at[0], at[1], at[2], d}),
                       right = w.read(op.getKey(), {at[0], keyHead, t, d});
                 return Values{s.add(so[0], s.mul(left, right))};
               })[0];
    product = s.mul(product, s.number(type, op.getScale().convertToDouble()));
    if (const double cap = op.getSoftcap().convertToDouble(); cap > 0) {
      Value limit = s.number(type, cap);
      product = s.mul(
          math::TanhOp::create(w.builder, w.loc, s.divide(product, limit)),
          limit);
    }
    return masked(product, t);
  }

  Value masked(Value score, const Index &t) {
    Value hidden = s.number(type, -HUGE_VAL);
    if (Value mask = op.getMask()) {
      Value own = w.readBroadcast(mask, {at[0], at[1], at[2], t});
      Type element = graph::tensorType(mask).getElementType();
      score = element.isInteger(1)
                  ? s.select(own, score, hidden)
                  : s.add(score, s.convert(own, element, type));
    }
    if (!op.getCausal())
      return score;
    const int64_t ahead = key.getDimSize(2) - query.getDimSize(2);
    Value last =
        s.add(w.materialise(at[2]), s.integer(w.builder.getI64Type(), ahead));
    return s.select(
        s.compare(arith::CmpIPredicate::sle, w.materialise(t), last), score,
        hidden);
  }

  KernelWriter &w;
  graph::AttentionOp op;
  ArrayRef<Index> at;
  ScalarBuilder s;
  RankedTensorType query, key;
  Type type;
  Index keyHead;
};
} // namespace

static Value attention(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  return AttentionElement(w, cast<graph::AttentionOp>(op), at).write();
}

void pcc::emit::addAttentionReads(ReadTable &table) {
  table.add<graph::AttentionOp>(attention);
}
