//===- TrainingRequest.h - training options of a module -------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H
#define PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace pcc::prepare {

/// Read access to the entries of `graph.training`. Entries are strings
/// (`optimizer`, `loss`), f64 numbers (`lr`, `clip_norm`) and lists of strings
/// (`freeze`). The methods treat an entry of an unexpected type like an absent
/// entry.
class TrainingRequest {
public:
  /// Returns the training options of `module`; nullopt if it is compiled for
  /// inference.
  static std::optional<TrainingRequest> of(mlir::ModuleOp module);

  /// Returns the string entry called `entry`; empty if it is absent.
  llvm::StringRef text(llvm::StringRef entry) const;
  /// Returns the value of the f64 entry called `entry`; nullopt if it is
  /// absent.
  std::optional<double> number(llvm::StringRef entry) const;
  /// Returns the value of the f64 entry called `entry`; `otherwise` if it is
  /// absent.
  double number(llvm::StringRef entry, double otherwise) const {
    return number(entry).value_or(otherwise);
  }
  /// Returns the strings of the list entry called `entry`; empty if it is
  /// absent.
  llvm::SmallVector<llvm::StringRef> list(llvm::StringRef entry) const;
  /// Returns whether `name` matches one of the glob patterns in the list entry
  /// called `entry`. A string that is no valid pattern only matches the same
  /// text.
  bool matches(llvm::StringRef entry, llvm::StringRef name) const;
  /// Returns whether each weight gets a parameter WEIGHT.gradients that sums
  /// its gradient over all steps. `pcc verify` compares these sums.
  bool sumsGradients() const { return bool(entries.get("sum_gradients")); }
  /// Returns whether `parameter` is trained. With the entry `train_only`, the
  /// parameters whose names match it are trained. Without it, all float
  /// parameters are, whatever their shape, except buffers (such as running
  /// statistics). In both cases parameters that match `freeze` are not trained.
  bool trains(graph::ParameterOp parameter) const;

private:
  explicit TrainingRequest(mlir::DictionaryAttr entries) : entries(entries) {}
  mlir::DictionaryAttr entries;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H
