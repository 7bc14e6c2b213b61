//===- VerifyReport.h - findings of a verification as JSON ----------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H
#define PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H

#include "passes/interpret/compare/Accuracy.h"
#include "status/Status.h"

namespace pcc::interpret {

/// All results of a verification.
struct Findings {
  graph::Numerics numerics = graph::Numerics::Exact;
  /// Comparisons of the simulated ranks' outputs with the expected tensors.
  /// After training steps, also comparisons of the final parameters.
  std::vector<VerifiedValue> outputs;
  /// Comparisons of the compiled executables' outputs with the expected
  /// tensors. Empty if the executables were not run.
  std::vector<VerifiedValue> executed;
  /// Float outputs in the model's own types (such as bf16), each with the error
  /// of the simulated ranks and the error of one rank. After training steps,
  /// also the final parameters. Empty if the model computes in f64, or if a
  /// value in `outputs` differs.
  std::vector<AccurateValue> ownTypes;
  /// First intermediate value that the simulated ranks compute differently from
  /// the unpartitioned model. Empty if all outputs are equal, or if no such
  /// value was found.
  std::optional<VerifiedValue> first;

  /// Returns the first output of the simulated ranks that differs from the
  /// expected tensor; null if all are equal. Points into this object.
  const VerifiedValue *simulatedDifference() const;
  /// Returns the first output of the executables that differs from the expected
  /// tensor; null if all are equal. Points into this object.
  const VerifiedValue *executedDifference() const;
  /// Returns the first entry of `ownTypes` in which the error of the ranks
  /// exceeds its tolerance; null if there is none. Points into this object.
  const AccurateValue *accuracyLoss() const;
};

/// Formats the largest errors in `findings` as one line for the user. Call it
/// only if all values equal the expected ones.
std::string describeErrors(const Findings &findings);

/// Writes `findings` as JSON to the file `path`. Does nothing if `path` is
/// empty. Returns an error if the file cannot be written.
Status writeReport(const std::string &path, const Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H
