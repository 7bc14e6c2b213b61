//===- EvaluatorTable.h - table of evaluators by op name ------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_EVALUATORTABLE_H
#define PCC_DIALECTS_GRAPH_REFERENCE_EVALUATORTABLE_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Evaluator.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace pcc::graph {

/// Input, output and error of the evaluation of one op. `results` initially has
/// one tensor of zeros per result of the op. An evaluator reads `operands` and
/// stores into `results`.
struct Evaluation {
  /// The op that is evaluated.
  mlir::Operation *op;
  /// Tensors with the values of the operands of `op`, one per operand. This
  /// object does not own them.
  llvm::ArrayRef<const HostTensor *> operands;
  Numerics numerics;
  llvm::SmallVector<HostTensor, 2> results;
  /// Error message that fail() has stored. It does not contain the name of the
  /// op. Empty if fail() was not called.
  std::string error;

  /// Returns the tensor that holds the value of operand `i`.
  const HostTensor &in(size_t i) const { return *operands[i]; }
  /// Returns the tensor in which the evaluator stores result `i`.
  HostTensor &out(size_t i = 0) { return results[i]; }
  /// Returns the element type that operand `operand` has in the IR, such as
  /// bf16.
  mlir::Type elementType(size_t operand) const {
    return tensorType(op->getOperand(operand)).getElementType();
  }
  /// Stores `message` and returns failure. `message` continues a sentence that
  /// begins with the name of the op, such as "is defined for floats only".
  mlir::LogicalResult fail(const llvm::Twine &message) {
    error = message.str();
    return mlir::failure();
  }
};

/// Function that evaluates ops of one kind, such as graph.add. It reads
/// operands from the Evaluation and stores results there. If operands or
/// attributes are invalid, it calls Evaluation::fail() and returns failure.
using Evaluator = mlir::LogicalResult (*)(Evaluation &);

/// Map from the name of an op, such as "graph.add", to the function that
/// evaluates the op.
class EvaluatorTable {
public:
  /// Adds `meaning` as the evaluator of ops of type `Op`.
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
/// Adds the evaluators of group_rows and grouped_matmul (mixture of experts).
void addExpertEvaluators(EvaluatorTable &table);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_EVALUATORTABLE_H
