//===- TrainingRequest.h - training options of a module -------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H
#define PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace pcc::prepare {

/// Read access to the entries of `graph.training`. Entries are strings
/// (`optimizer`, `loss`), f64 numbers (`lr`, `clip_norm`) and lists of strings
/// (`freeze`). An entry that is absent or of another type reads as empty.
class TrainingRequest {
public:
  /// Returns the request of `module`; nullopt if it is compiled for inference.
  static std::optional<TrainingRequest> of(mlir::ModuleOp module);

  /// Returns a string entry; empty if absent.
  llvm::StringRef text(llvm::StringRef entry) const;
  /// Returns a number entry; nullopt if absent.
  std::optional<double> number(llvm::StringRef entry) const;
  /// Returns a number entry; `otherwise` if absent.
  double number(llvm::StringRef entry, double otherwise) const {
    return number(entry).value_or(otherwise);
  }
  /// Returns the strings of a list entry; empty if absent.
  llvm::SmallVector<llvm::StringRef> list(llvm::StringRef entry) const;
  /// Returns whether `name` matches one of the globs in a list entry. A string
  /// that is no valid glob matches only itself.
  bool matches(llvm::StringRef entry, llvm::StringRef name) const;
  /// Returns whether the gradients of each weight are summed over all steps in
  /// a parameter named WEIGHT.gradients, which `pcc verify` compares.
  bool sumsGradients() const { return bool(entries.get("sum_gradients")); }
  /// Returns whether a parameter is trained. Candidates are the parameters that
  /// match `train_only`; without that entry, all float parameters of rank 1 or
  /// more with at least 2 elements that are no buffers (such as running
  /// statistics). Candidates that match `freeze` are not trained.
  bool trains(graph::ParameterOp parameter) const;

private:
  explicit TrainingRequest(mlir::DictionaryAttr entries) : entries(entries) {}
  mlir::DictionaryAttr entries;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H
