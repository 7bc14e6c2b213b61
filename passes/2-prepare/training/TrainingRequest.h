//===- TrainingRequest.h - what a step of training is to do ---------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H
#define PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H

#include "dialects/graph/GradientOf.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace pcc::prepare {

/// On the module, what the user asked for; see `TrainingRequest`. Without it
/// the model is for inference.
inline constexpr llvm::StringLiteral trainingName = "graph.training";

/// On a result of @main between `differentiate` and `apply-optimizer`: the
/// weight of which it is the gradient.
inline constexpr llvm::StringLiteral gradientOfName = graph::gradientOfName;

/// The entries of `graph.training`: strings, lists of strings, and numbers,
/// which are f64.
class TrainingRequest {
public:
  /// Nothing if the module is not to be trained.
  static std::optional<TrainingRequest> of(mlir::ModuleOp module);

  llvm::StringRef text(llvm::StringRef entry) const;
  std::optional<double> number(llvm::StringRef entry) const;
  /// With `otherwise` where nothing was said.
  double number(llvm::StringRef entry, double otherwise) const {
    return number(entry).value_or(otherwise);
  }
  llvm::SmallVector<llvm::StringRef> list(llvm::StringRef entry) const;
  /// Whether `name` is like one of the globs in a list.
  bool matches(llvm::StringRef entry, llvm::StringRef name) const;
  /// Whether the sum of a weight's gradients over all steps is kept as WEIGHT
  /// with `.gradients` behind it, for `pcc verify`.
  bool sumsGradients() const { return bool(entries.get("sum_gradients")); }
  /// Whether a weight is to train: what the user says, or else every weight of
  /// floats that is no buffer.
  bool trains(graph::ParameterOp parameter) const;

private:
  explicit TrainingRequest(mlir::DictionaryAttr entries) : entries(entries) {}
  mlir::DictionaryAttr entries;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H
