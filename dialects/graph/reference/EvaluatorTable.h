//===- EvaluatorTable.h - table of evaluators by op name ------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_EVALUATORTABLE_H
#define PCC_DIALECTS_GRAPH_REFERENCE_EVALUATORTABLE_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Evaluator.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace pcc::graph {

/// State of the evaluation of one op. An evaluator reads `operands` and sets
/// the elements of `results`. The result tensors have the shapes of the op's
/// result types and hold zeros before the evaluator is called.
struct Evaluation {
  /// The op that is evaluated.
  mlir::Operation *op;
  /// One tensor per operand of `op`. The tensors are not owned.
  llvm::ArrayRef<const HostTensor *> operands;
  Numerics numerics;
  llvm::SmallVector<HostTensor, 2> results;
  /// Message of the last fail(), without the name of the op. Empty if fail()
  /// was not called.
  std::string error;

  /// Returns the tensor of operand `i`.
  const HostTensor &in(size_t i) const { return *operands[i]; }
  /// Returns the tensor of result `i`.
  HostTensor &out(size_t i = 0) { return results[i]; }
  /// Returns the element type of operand `operand` in the IR, such as bf16. Its
  /// tensor here stores another type (see ElementKind).
  mlir::Type elementType(size_t operand) const {
    return tensorType(op->getOperand(operand)).getElementType();
  }
  /// Stores `message` in `error` and returns failure. `message` completes a
  /// sentence that begins with the name of the op.
  mlir::LogicalResult fail(const llvm::Twine &message) {
    error = message.str();
    return mlir::failure();
  }
};

/// Function that computes the results of ops of one kind. On an error it
/// returns the failure of Evaluation::fail().
using Evaluator = mlir::LogicalResult (*)(Evaluation &);

/// Map from the names of ops, such as "graph.add", to their evaluators.
class EvaluatorTable {
public:
  /// Adds the evaluator of ops of type `Op`.
  template <typename Op> void add(Evaluator meaning) {
    evaluators[Op::getOperationName()] = meaning;
  }
  /// Returns the evaluator of ops with the name `name`, or null if there is
  /// none.
  Evaluator lookup(llvm::StringRef name) const {
    return evaluators.lookup(name);
  }

private:
  llvm::StringMap<Evaluator> evaluators;
};

/// Adds the evaluators of constant, iota, loss_gradient and accumulate.
void addSourceEvaluators(EvaluatorTable &table);
/// Adds the evaluators of element-wise ops: arithmetic, comparisons, select,
/// casts and random numbers.
void addElementWiseEvaluators(EvaluatorTable &table);
/// Adds the evaluators of transpose, reshape, broadcast, slice, concat, pad and
/// rotary.
void addLayoutEvaluators(EvaluatorTable &table);
/// Adds the evaluator of resize.
void addResizeEvaluators(EvaluatorTable &table);
/// Adds the evaluators of gathers, scatters and one_hot.
void addIndexingEvaluators(EvaluatorTable &table);
/// Adds the evaluators of reduce, arg_reduce, topk and cumsum.
void addReductionEvaluators(EvaluatorTable &table);
/// Adds the evaluators of softmax, log_softmax, layer_norm and rms_norm.
void addNormEvaluators(EvaluatorTable &table);
/// Adds the evaluators of matmul and einsum.
void addContractionEvaluators(EvaluatorTable &table);
/// Adds the evaluators of attention and of its two gradient ops.
void addAttentionEvaluators(EvaluatorTable &table);
/// Adds the evaluators of conv, conv_transpose and pool.
void addWindowEvaluators(EvaluatorTable &table);
/// Adds the evaluators of group_rows and grouped_matmul.
void addExpertEvaluators(EvaluatorTable &table);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_EVALUATORTABLE_H
