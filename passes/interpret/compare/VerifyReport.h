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
  /// Accuracy of the partitioned model when op results are rounded to the
  /// element types of the model, such as bf16. The list has one entry for each
  /// model output that holds floats. Each entry has two errors:
  ///
  ///  - the error of the partitioned model on the simulated ranks;
  ///  - the error of the unpartitioned model on one rank.
  ///
  /// Both errors are differences from the unpartitioned model in f64. If the
  /// model is a training step, the step is executed several times. The list
  /// then has one entry for each model output of each execution, and one entry
  /// for each trained parameter after the last execution.
  ///
  /// The list is empty if all floats of the model are f64. The list is also
  /// empty if an entry of `outputs` differs from the unpartitioned model.
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
  /// Returns the first entry of `ownTypes` for which the simulated ranks are
  /// much less accurate than one rank. Returns null if there is no such entry.
  /// The returned pointer points into this object.
  ///
  /// An entry of `ownTypes` has two errors: the error of the partitioned model
  /// on the simulated ranks, and the error of the unpartitioned model on one
  /// rank. The error on the simulated ranks may always be as large as 20 times
  /// the error on one rank. For example, if the error on one rank is 0.001, an
  /// error of 0.02 on the simulated ranks is still accepted.
  const AccurateValue *accuracyLoss() const;
};

/// Returns a text for the user after a verification without a wrong value. The
/// text gives the largest relative errors in `findings`. Example:
///
///   equal in f64 (relative error 2e-16) and as accurate as one rank in the
///   model's types (relative errors 0.02 and 0.01)
///
/// Here 2e-16 is the error of the simulated ranks in f64. The other two errors
/// occur when op results are rounded to the element types of the model, such as
/// bf16: 0.02 is the error of the simulated ranks, and 0.01 is the error of one
/// rank.
std::string describeErrors(const Findings &findings);

/// Writes `findings` as JSON to the file `path`. Does nothing if `path` is
/// empty. Returns an error if the file cannot be written.
Status writeReport(const std::string &path, const Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H
