//===- FindLints.h - search for suspicious shardings (lints) --------------===//

#ifndef PCC_PASSES_EXPLAIN_FINDLINTS_H
#define PCC_PASSES_EXPLAIN_FINDLINTS_H

#include "dialects/dist/Lints.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/explain/Remedy.h"

#include <optional>
#include <string>
#include <vector>

namespace pcc::explain {

/// A lint found in a module: a warning about a suspicious sharding.
struct FoundLint {
  /// Kind of lint.
  dist::Lint lint;
  /// Message of one line, such as "every rank gathers a whole tensor of 64.0
  /// MiB". Begins with a lower-case letter.
  std::string message;
  /// Name of the first ONNX node that the lint is about; may be empty.
  std::string node;
  /// Options with which the warning may disappear; absent if none are known.
  std::optional<Remedy> remedy = {};

  bool operator==(const FoundLint &) const = default;
};

/// Returns all lints of `module`, ordered by their codes, such as PCC-L001.
/// `module` must have passed phase 6-schedule. After 7-emit, kernels have no
/// shardings, so only lints about collectives and weights can be found.
std::vector<FoundLint> findLints(mlir::ModuleOp module);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_FINDLINTS_H
