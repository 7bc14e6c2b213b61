//===- FindLints.h - search for suspicious shardings (lints) --------------===//

#ifndef PCC_PASSES_EXPLAIN_FINDLINTS_H
#define PCC_PASSES_EXPLAIN_FINDLINTS_H

#include "dialects/dist/Lints.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace pcc::explain {

/// A lint found in a module: a warning about a suspicious sharding.
struct FoundLint {
  /// Kind of lint.
  dist::Lint lint;
  /// Text of one line, which begins in lower case.
  std::string message;
  /// Name of the first ONNX node that the lint is about; may be empty.
  std::string node;

  bool operator==(const FoundLint &) const = default;
};

/// Returns all lints of `module`, ordered by the code of the lint and then in
/// program order. The module must have passed phase 6-schedule. After phase
/// 7-emit, kernels hide their ops, so that only collectives and weights are
/// examined.
std::vector<FoundLint> findLints(mlir::ModuleOp module);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_FINDLINTS_H
