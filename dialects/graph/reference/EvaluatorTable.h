//===- EvaluatorTable.h - the table of evaluators, one family per file ----===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_EVALUATORTABLE_H
#define PCC_DIALECTS_GRAPH_REFERENCE_EVALUATORTABLE_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Evaluator.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace pcc::graph {

/// One op while it is evaluated. `results` are zeros of the result types when a
/// meaning begins; it fills them.
struct Evaluation {
  mlir::Operation *op;
  llvm::ArrayRef<const HostTensor *> operands;
  Numerics numerics;
  llvm::SmallVector<HostTensor, 2> results;
  std::string error;

  const HostTensor &in(size_t i) const { return *operands[i]; }
  HostTensor &out(size_t i = 0) { return results[i]; }
  mlir::Type elementType(size_t operand) const {
    return tensorType(op->getOperand(operand)).getElementType();
  }
  /// Records why the op cannot be evaluated.
  mlir::LogicalResult fail(const llvm::Twine &message) {
    error = message.str();
    return mlir::failure();
  }
};

using Evaluator = mlir::LogicalResult (*)(Evaluation &);

/// Op name to meaning.
class EvaluatorTable {
public:
  template <typename Op> void add(Evaluator meaning) {
    evaluators[Op::getOperationName()] = meaning;
  }
  /// Null for an op without meaning.
  Evaluator lookup(llvm::StringRef name) const {
    return evaluators.lookup(name);
  }

private:
  llvm::StringMap<Evaluator> evaluators;
};

void addSourceEvaluators(EvaluatorTable &table);
void addElementWiseEvaluators(EvaluatorTable &table);
void addLayoutEvaluators(EvaluatorTable &table);
void addResizeEvaluators(EvaluatorTable &table);
void addIndexingEvaluators(EvaluatorTable &table);
void addReductionEvaluators(EvaluatorTable &table);
void addNormEvaluators(EvaluatorTable &table);
void addContractionEvaluators(EvaluatorTable &table);
void addAttentionEvaluators(EvaluatorTable &table);
void addWindowEvaluators(EvaluatorTable &table);
void addExpertEvaluators(EvaluatorTable &table);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_EVALUATORTABLE_H
