//===- Verify.h - all ranks against the unpartitioned model ---------------===//

#ifndef PCC_PASSES_INTERPRET_VERIFY_H
#define PCC_PASSES_INTERPRET_VERIFY_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace pcc::interpret {

struct VerifyRequest {
  /// NAME=FILE.npy; inputs that are not given are seeded.
  std::vector<std::string> inputs;
  /// Where the comparison is written as JSON; empty for nowhere.
  std::string report;
  /// Every result is rounded to the model's own types; else all is f64.
  bool modelTypes = false;
};

/// An exit code of the interface, 0 if all values are equal.
struct Verdict {
  int exitCode = 0;
  std::string error;
  std::vector<std::string> notes;
};

/// Runs the model `whole` (after 1-import) on one simulated device and the
/// action tables of `parts` (after 6-schedule) on all simulated ranks, and
/// compares what every rank holds of every output.
Verdict compare(mlir::ModuleOp whole, mlir::ModuleOp parts,
                const VerifyRequest &request);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFY_H
