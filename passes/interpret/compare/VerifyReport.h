//===- VerifyReport.h - findings of a verification as JSON ----------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H
#define PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H

#include "passes/interpret/compare/Accuracy.h"
#include "status/Status.h"

namespace pcc::interpret {

/// Results of a verification. A verification compares the partitioned model
/// with the unpartitioned model. Simulated ranks execute the partitioned model.
/// The outputs of the compiled executables may be compared with the
/// unpartitioned model as well.
struct Findings {
  graph::Numerics numerics = graph::Numerics::Exact;
  /// Comparisons of the simulated ranks with the unpartitioned model, one for
  /// each model output. A training step is executed several times: one
  /// comparison for each output of each execution, and one for each parameter
  /// after the last.
  std::vector<VerifiedValue> outputs;
  /// Comparisons of the compiled executables with the unpartitioned model;
  /// empty until the executables have been executed. One for each model output.
  /// In training, these are the outputs of the last step, and the written
  /// parameters.
  std::vector<VerifiedValue> executed;
  /// Errors of the simulated ranks and of the unpartitioned model against f64,
  /// with each op result rounded to its element type, such as bf16. One entry
  /// for each float tensor in `outputs`. The list is empty if all floats are
  /// f64, or if `outputs` contains a wrong value.
  std::vector<AccurateValue> ownTypes;
  /// First op result, in the order of execution, that differs on the simulated
  /// ranks. It helps to find the cause of a wrong model output. Empty if no
  /// output is wrong, if the model is a training step, or if no such result was
  /// found.
  std::optional<VerifiedValue> first;

  /// Returns the first entry of `outputs` with a wrong value. An entry of
  /// `outputs` compares a model output or a trained parameter of the
  /// partitioned model, on the simulated ranks, with the unpartitioned model.
  /// The value is wrong if the difference exceeds the tolerance of the entry.
  /// Returns null if no value is wrong. The returned pointer points into this
  /// object.
  const VerifiedValue *simulatedDifference() const;
  /// Returns the first entry of `executed` with a wrong value. An entry of
  /// `executed` compares a model output or a trained parameter, which the
  /// compiled executables have written, with the unpartitioned model. The value
  /// is wrong if the difference exceeds the tolerance of the entry. Returns
  /// null if no value is wrong. The returned pointer points into this object.
  const VerifiedValue *executedDifference() const;
  /// Returns the first entry of `ownTypes` for which the simulated ranks are
  /// less accurate than accuracyOf() allows; null if there is none. The pointer
  /// points into this object.
  const AccurateValue *accuracyLoss() const;
};

/// Returns a text with the largest relative errors, such as 0.02 on the
/// simulated ranks and 0.01 on one rank. No value must be wrong. Example:
///
///   equal in f64 (relative error 2e-16) and as accurate as one rank in the
///   model's types (relative errors 0.02 and 0.01)
std::string describeErrors(const Findings &findings);

/// Writes `findings` as JSON to the file `path`. Does nothing if `path` is
/// empty. Returns an error if the file cannot be written.
Status writeReport(const std::string &path, const Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H
