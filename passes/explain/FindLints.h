//===- FindLints.h - search for suspicious shardings (lints) --------------===//

#ifndef PCC_PASSES_EXPLAIN_FINDLINTS_H
#define PCC_PASSES_EXPLAIN_FINDLINTS_H

#include "dialects/dist/Lints.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace pcc::explain {

/// A lint that applies to a module.
struct FoundLint {
  /// Kind of the lint.
  dist::Lint lint;
  /// Message of one line that begins in lower case.
  std::string message;
  /// First node that the lint concerns; may be empty.
  std::string node;

  bool operator==(const FoundLint &) const = default;
};

/// Returns all lints of `module`, by code, then in program order. The module
/// must have passed 6-schedule. In a module after 7-emit, kernels hide their
/// ops, so only collectives and weights are judged.
std::vector<FoundLint> findLints(mlir::ModuleOp module);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_FINDLINTS_H
