//===- TrainingRequest.h - training options of a module -------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H
#define PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace pcc::prepare {

/// Returns a location for ops of a training step that come from no ONNX node.
/// For an op with this location, graph::nodeName() returns `part`, such as
/// "loss". `model` is the location of the function.
mlir::Location locationOf(llvm::StringRef part, mlir::Location model);

/// Read access to the module attribute `graph.training`, a dictionary. Entries
/// are strings (`optimizer`, `loss`), f64 numbers (`lr`, `clip_norm`) and lists
/// of strings (`freeze`). An entry of an unexpected type counts as absent.
class TrainingRequest {
public:
  /// Returns the training options of `module`; nullopt if it is compiled for
  /// inference.
  static std::optional<TrainingRequest> of(mlir::ModuleOp module);

  /// Returns the string in the entry `entry` of the dictionary
  /// `graph.training`. For example, the entry "optimizer" may hold the string
  /// "adamw". Returns an empty string if the dictionary has no such entry, or
  /// if the entry is not a string.
  llvm::StringRef text(llvm::StringRef entry) const;
  /// Returns the f64 number in the entry `entry` of the dictionary
  /// `graph.training`. For example, the entry "lr" may hold the number 0.001.
  /// Returns nullopt if the dictionary has no such entry, or if the entry is
  /// not a number.
  std::optional<double> number(llvm::StringRef entry) const;
  /// Returns the f64 number in the entry `entry` of the dictionary
  /// `graph.training`. For example, the entry "lr" may hold the number 0.001.
  /// Returns `otherwise` if the dictionary has no such entry, or if the entry
  /// is not a number.
  double number(llvm::StringRef entry, double otherwise) const {
    return number(entry).value_or(otherwise);
  }
  /// Returns the list of strings in the entry `entry` of the dictionary
  /// `graph.training`. For example, the entry "freeze" may hold the list
  /// ["wte", "wpe"]. Returns an empty list if the dictionary has no such entry,
  /// or if the entry is not a list.
  llvm::SmallVector<llvm::StringRef> list(llvm::StringRef entry) const;
  /// Returns whether `name` matches one of the patterns in the entry `entry` of
  /// the dictionary `graph.training`. The entry is a list of strings, and each
  /// string is a pattern. For example, the entry "freeze" may hold the list
  /// ["h.*.w", "w["]. The name "h.3.w" matches the glob pattern "h.*.w". The
  /// pattern "w[" is not a valid glob, so it matches only the equal name "w[".
  bool matches(llvm::StringRef entry, llvm::StringRef name) const;
  /// Returns whether each weight gets a parameter WEIGHT.gradients, the sum of
  /// its gradients over all steps. `pcc verify` compares these sums.
  bool sumsGradients() const { return bool(entries.get("sum_gradients")); }
  /// Returns whether training changes `parameter`. Without the option
  /// --train-only, training changes each float parameter that has elements and
  /// is not a buffer. A buffer is a tensor such as the running statistics of a
  /// batch normalization. With --train-only, training changes each parameter
  /// whose name matches a pattern of --train-only. If the name of a parameter
  /// matches a pattern of --freeze, training never changes the parameter.
  bool trains(graph::ParameterOp parameter) const;

private:
  explicit TrainingRequest(mlir::DictionaryAttr entries) : entries(entries) {}
  mlir::DictionaryAttr entries;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_TRAININGREQUEST_H
