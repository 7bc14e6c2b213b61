//===- VerifyReport.h - findings of a verification as JSON ----------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H
#define PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H

#include "passes/interpret/compare/VerifiedValue.h"
#include "runtime/base/Status.h"

namespace pcc::interpret {

/// Everything that a verification has compared.
struct Findings {
  graph::Numerics numerics = graph::Numerics::Exact;
  /// Outputs of the simulated ranks; for a training step also the parameters
  /// after the last step.
  std::vector<VerifiedValue> outputs;
  /// Outputs of the compiled executables; empty if they were not run.
  std::vector<VerifiedValue> executed;
  /// First differing value within the model, if an output of the simulated
  /// ranks differs and such a value has been found (FirstDifference.h).
  std::optional<VerifiedValue> first;

  /// Returns the first output of the simulated ranks that differs; null if all
  /// are equal. The pointer refers into this object.
  const VerifiedValue *simulatedDifference() const;
  /// Returns the first output of the executables that differs; null if all are
  /// equal. The pointer refers into this object.
  const VerifiedValue *executedDifference() const;
};

/// Writes `findings` as JSON to the file `path`. Does nothing if `path` is
/// empty. Returns an error if the file cannot be written.
runtime::Status writeReport(const std::string &path, const Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H
