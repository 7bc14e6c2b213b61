//===- Meaning.cpp - evaluates ops by the table ---------------------------===//

#include "dialects/graph/meaning/MeaningTable.h"

using namespace mlir;
using namespace pcc::graph;

static const MeaningTable &meanings() {
  static const MeaningTable table = [] {
    MeaningTable all;
    addLeafMeanings(all);
    addElementWiseMeanings(all);
    addLayoutMeanings(all);
    addResizeMeanings(all);
    addIndexingMeanings(all);
    addReductionMeanings(all);
    addNormMeanings(all);
    addContractionMeanings(all);
    addAttentionMeanings(all);
    addWindowMeanings(all);
    addExpertMeanings(all);
    return all;
  }();
  return table;
}

bool pcc::graph::hasMeaning(Operation *op) {
  return meanings().lookup(op->getName().getStringRef());
}

LogicalResult pcc::graph::evaluate(Operation *op,
                                   ArrayRef<const HostTensor *> operands,
                                   SmallVectorImpl<HostTensor> &results,
                                   Numerics numerics, std::string &error) {
  Meaning meaning = meanings().lookup(op->getName().getStringRef());
  if (!meaning) {
    error = "has no meaning that can be evaluated";
    return failure();
  }
  Evaluation evaluation{op, operands, numerics, {}, {}};
  for (Value result : op->getResults())
    evaluation.results.push_back(HostTensor::zeros(tensorType(result)));
  if (failed(meaning(evaluation))) {
    error = std::move(evaluation.error);
    return failure();
  }
  for (auto [result, tensor] :
       llvm::zip_equal(op->getResults(), evaluation.results)) {
    Type type = tensorType(result).getElementType();
    numerics == Numerics::Model ? roundTo(type, tensor) : wrapTo(type, tensor);
    results.push_back(std::move(tensor));
  }
  return success();
}

LogicalResult pcc::graph::evaluate(Operation *op,
                                   ArrayRef<const HostTensor *> operands,
                                   SmallVectorImpl<HostTensor> &results,
                                   Numerics numerics) {
  std::string error;
  if (succeeded(evaluate(op, operands, results, numerics, error)))
    return success();
  return op->emitOpError() << error;
}
