//===- ExpandSoftmax.cpp - expansion of softmaxes along a split dim -------===//

#include "passes/4-shard/expand/Expansions.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Replaces a softmax or a log-softmax along a split dim by simpler ops. Later
/// passes insert two all-reduces: for the maximum and for the sum of
/// exponentials.
template <typename Op, bool logarithm>
static SmallVector<Value, 2> expandSoftmax(const ShardedOp &op,
                                           ShardedBuilder &b) {
  auto softmax = cast<Op>(op.op);
  Value x = softmax.getInput();
  int64_t dim = softmax.getDim();
  Value top = b.reduce(graph::ReduceKind::Max, x, dim);
  Value below = b.make<graph::SubOp>(b.widen(x), b.widen(top));
  Value power = b.make<graph::ExpOp>(below);
  Value sum = b.reduce(graph::ReduceKind::Sum, power, dim);
  Value y = logarithm ? b.make<graph::SubOp>(below, b.make<graph::LogOp>(sum))
                      : b.make<graph::DivOp>(power, sum);
  return {b.cast(y, graph::tensorType(x).getElementType())};
}

void pcc::shard::addSoftmaxExpansions(Expansions &expansions) {
  expansions.add<graph::SoftmaxOp>(expandSoftmax<graph::SoftmaxOp, false>);
  expansions.add<graph::LogSoftmaxOp>(expandSoftmax<graph::LogSoftmaxOp, true>);
}
