//===- EvaluateOn.h - one op of a walk on host tensors --------------------===//

#ifndef PCC_TEST_DIALECTS_GRAPH_REFERENCE_EVALUATEON_H
#define PCC_TEST_DIALECTS_GRAPH_REFERENCE_EVALUATEON_H

#include "dialects/graph/reference/Evaluator.h"

namespace pcc::graph {

/// Evaluates `op` on the tensors that the map `values` has for its operands,
/// all of them, and puts those of its results there. On failure `error` says
/// what was found.
template <typename Values>
mlir::LogicalResult evaluateOn(Values &values, mlir::Operation &op,
                               Numerics numerics, std::string &error) {
  llvm::SmallVector<const HostTensor *> operands;
  for (mlir::Value operand : op.getOperands())
    operands.push_back(&values.find(operand)->second);
  llvm::SmallVector<HostTensor> results;
  if (Status status = evaluate(&op, operands, results, numerics);
      status.failed()) {
    error = status.message();
    return mlir::failure();
  }
  for (auto [result, tensor] : llvm::zip_equal(op.getResults(), results))
    values[result] = std::move(tensor);
  return mlir::success();
}

/// Evaluates the ops of `body` but its terminator up to `last`, all of them if
/// it is null, in f64.
template <typename Values>
mlir::LogicalResult evaluateUpTo(Values &values, mlir::Block &body,
                                 mlir::Operation *last, std::string &error) {
  for (mlir::Operation &op : body.without_terminator()) {
    if (mlir::failed(evaluateOn(values, op, Numerics::Exact, error)))
      return mlir::failure();
    if (&op == last)
      break;
  }
  return mlir::success();
}

} // namespace pcc::graph

#endif // PCC_TEST_DIALECTS_GRAPH_REFERENCE_EVALUATEON_H
