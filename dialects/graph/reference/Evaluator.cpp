//===- Evaluator.cpp - evaluation of graph ops by table -------------------===//

#include "dialects/graph/reference/EvaluatorTable.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::graph;

/// Returns the table of all evaluators. The first call builds it.
static const EvaluatorTable &evaluators() {
  static const EvaluatorTable table = [] {
    EvaluatorTable all;
    addSourceEvaluators(all);
    addElementWiseEvaluators(all);
    addLayoutEvaluators(all);
    addResizeEvaluators(all);
    addIndexingEvaluators(all);
    addReductionEvaluators(all);
    addNormEvaluators(all);
    addContractionEvaluators(all);
    addAttentionEvaluators(all);
    addWindowEvaluators(all);
    addExpertEvaluators(all);
    return all;
  }();
  return table;
}

bool pcc::graph::canEvaluate(Operation *op) {
  return evaluators().lookup(op->getName().getStringRef());
}

/// Computes the results of `op`. `numerics` determines the precision of float
/// results. With Numerics::Exact, float results stay in f64. With
/// Numerics::Model, float results are rounded to their element types. Integer
/// results are always wrapped to the width of their element types: for i8, 200
/// becomes -56. Wrapping is part of the meaning of a model.
Status pcc::graph::evaluate(Operation *op,
                            ArrayRef<const HostTensor *> operands,
                            SmallVectorImpl<HostTensor> &results,
                            Numerics numerics) {
  Evaluator meaning = evaluators().lookup(op->getName().getStringRef());
  if (!meaning)
    return Status::error(Unsupported, "cannot be evaluated");
  Evaluation evaluation{op, operands, numerics, {}, {}};
  for (Value result : op->getResults())
    evaluation.results.push_back(HostTensor::zeros(tensorType(result)));
  if (failed(meaning(evaluation)))
    return Status::error(BadInput, std::move(evaluation.error));
  for (auto [result, tensor] :
       llvm::zip_equal(op->getResults(), evaluation.results)) {
    Type type = tensorType(result).getElementType();
    numerics == Numerics::Model ? roundTo(type, tensor) : wrapTo(type, tensor);
    results.push_back(std::move(tensor));
  }
  return Status::success();
}
