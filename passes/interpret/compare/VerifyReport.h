//===- VerifyReport.h - findings of a verification as JSON ----------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H
#define PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H

#include "passes/interpret/compare/Accuracy.h"
#include "status/Status.h"

namespace pcc::interpret {

/// All results of a verification.
struct Findings {
  graph::Numerics numerics = graph::Numerics::Exact;
  /// Comparisons of the simulated ranks' outputs. A training step also has
  /// comparisons of the parameters after the last step.
  std::vector<VerifiedValue> outputs;
  /// Comparisons of the outputs of the compiled executables. Empty if the
  /// executables were not run.
  std::vector<VerifiedValue> executed;
  /// Float outputs in the model's own types, with the errors of the ranks and
  /// of one rank. A training step also has the parameters after the last step.
  /// Empty if the model computes in f64, or if `outputs` differ.
  std::vector<AccurateValue> ownTypes;
  /// First value inside the model that differs. Empty if all outputs of the
  /// simulated ranks are equal, or if no such value was found.
  std::optional<VerifiedValue> first;

  /// Returns the first output of the simulated ranks that differs; null if all
  /// are equal. Points into this object.
  const VerifiedValue *simulatedDifference() const;
  /// Returns the first output of the executables that differs; null if all are
  /// equal. Points into this object.
  const VerifiedValue *executedDifference() const;
  /// Returns the first of `ownTypes` for which ranks lose far more accuracy
  /// than one rank; null if there is none. Points into this object.
  const AccurateValue *accuracyLoss() const;
};

/// Formats the largest errors of `findings` as one line for the user. All
/// values must be equal.
std::string describeErrors(const Findings &findings);

/// Writes `findings` as JSON to the file `path`. Does nothing if `path` is
/// empty. Returns an error if the file cannot be written.
Status writeReport(const std::string &path, const Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H
