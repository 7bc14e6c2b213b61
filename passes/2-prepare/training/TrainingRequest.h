//===- TrainingRequest.h - training options of a module -------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H
#define PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace pcc::prepare {

/// Read access to the module attribute `graph.training`, a dictionary. Entries
/// are strings (`optimizer`, `loss`), f64 numbers (`lr`, `clip_norm`) and lists
/// of strings (`freeze`). An entry of an unexpected type counts as absent.
class TrainingRequest {
public:
  /// Returns the training options of `module`; nullopt if it is compiled for
  /// inference.
  static std::optional<TrainingRequest> of(mlir::ModuleOp module);

  /// Returns a string of the dictionary `graph.training`, such as the one at
  /// `entry` = "optimizer"; empty if it is absent.
  llvm::StringRef text(llvm::StringRef entry) const;
  /// Returns an f64 number of the dictionary `graph.training`, such as the one
  /// at `entry` = "lr"; nullopt if it is absent.
  std::optional<double> number(llvm::StringRef entry) const;
  /// Returns an f64 number of the dictionary `graph.training`, such as the one
  /// at `entry` = "lr"; `otherwise` if it is absent.
  double number(llvm::StringRef entry, double otherwise) const {
    return number(entry).value_or(otherwise);
  }
  /// Returns a list of strings of the dictionary `graph.training`, such as the
  /// one at `entry` = "freeze"; empty if it is absent.
  llvm::SmallVector<llvm::StringRef> list(llvm::StringRef entry) const;
  /// Returns whether `name` matches one of the glob patterns in the list entry
  /// called `entry`. An invalid pattern matches only its own text.
  bool matches(llvm::StringRef entry, llvm::StringRef name) const;
  /// Returns whether each weight gets a parameter WEIGHT.gradients, the sum of
  /// its gradients over all steps. `pcc verify` compares these sums.
  bool sumsGradients() const { return bool(entries.get("sum_gradients")); }
  /// Returns whether `parameter` is trained. By default, all float parameters
  /// are, except buffers (such as running statistics). With the entry
  /// `train_only`, only parameters that match it are. Parameters that match
  /// `freeze` never are.
  bool trains(graph::ParameterOp parameter) const;

private:
  explicit TrainingRequest(mlir::DictionaryAttr entries) : entries(entries) {}
  mlir::DictionaryAttr entries;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H
