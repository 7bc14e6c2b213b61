//===- Sources.cpp - evaluators of constants and step values --------------===//

#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Strides.h"

using namespace mlir;
using namespace pcc::graph;

/// Evaluates constant. Fails if the elements are not in a dense attribute of
/// the module.
static LogicalResult constant(Evaluation &e) {
  Attribute value = cast<ConstantOp>(e.op).getValueAttr();
  if (!isReadable(value))
    return e.fail("holds a constant that is not dense");
  e.out() = toHost(cast<DenseElementsAttr>(value));
  return success();
}

/// Evaluates iota: each element is its index along one dim.
static LogicalResult iota(Evaluation &e) {
  HostTensor &out = e.out();
  DimView view(out.shape, cast<IotaOp>(e.op).getDim());
  withStorage(out.kind, [&](auto zero) {
    auto *elements = out.data<decltype(zero)>();
    for (int64_t outer = 0; outer < view.numOuter; ++outer)
      for (int64_t i = 0; i < view.size; ++i)
        std::fill_n(elements + view.at(outer, i, 0), view.numInner, i);
  });
  return success();
}

/// Evaluates loss_gradient, the gradient of the loss with respect to itself:
/// every element is 1.
static LogicalResult lossGradient(Evaluation &e) {
  std::fill_n(e.out().data<double>(), e.out().numElements(), 1);
  return success();
}

/// Evaluates accumulate (sum over microbatches) as a copy of its operand,
/// because the evaluator computes the whole batch at once.
static LogicalResult accumulate(Evaluation &e) {
  e.out() = e.in(0);
  return success();
}

void pcc::graph::addSourceEvaluators(EvaluatorTable &table) {
  table.add<ConstantOp>(constant);
  table.add<IotaOp>(iota);
  table.add<LossGradientOp>(lossGradient);
  table.add<AccumulateOp>(accumulate);
}
