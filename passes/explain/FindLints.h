//===- FindLints.h - what looks wrong in a plan ---------------------------===//

#ifndef PCC_PASSES_EXPLAIN_FINDLINTS_H
#define PCC_PASSES_EXPLAIN_FINDLINTS_H

#include "dialects/dist/Lints.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace pcc::explain {

struct FoundLint {
  dist::Lint lint;
  std::string message; ///< one line that begins in lower case
  std::string node;    ///< the first node that it concerns; may be empty

  bool operator==(const FoundLint &) const = default;
};

/// All lints of a module that 6-schedule has passed, by code, then in program
/// order. Of the kernels of 7-emit only collectives and weights can be judged.
std::vector<FoundLint> findLints(mlir::ModuleOp module);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_FINDLINTS_H
