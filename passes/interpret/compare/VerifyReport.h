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
  /// Comparisons of the simulated ranks with the unpartitioned model. For
  /// inference, there is one entry for each model output. A training step is
  /// executed several times: there is one entry for each output of each step,
  /// and one for each parameter after the last step.
  std::vector<VerifiedValue> outputs;
  /// Comparisons of the compiled executables with the unpartitioned model;
  /// empty until the executables have been executed. For inference, there is
  /// one entry for each model output. For training, there is one entry for each
  /// output of the last step, and one for each parameter that the training has
  /// written.
  std::vector<VerifiedValue> executed;
  /// Relative errors, against the unpartitioned model in f64, of two runs: the
  /// partitioned model on the simulated ranks, and the unpartitioned model on
  /// one rank. Both runs round each op result to its element type, such as
  /// bf16. One entry for each float tensor in `outputs`. The list is empty if
  /// all floats are f64, or if `outputs` contains a wrong value.
  std::vector<AccurateValue> ownTypes;
  /// First op result, in the order of execution, that differs between the
  /// simulated ranks and the unpartitioned model. This op helps to find the
  /// cause of a wrong model output. It may be a written parameter, too. Empty
  /// if no output is wrong, or if no such result was found.
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
  /// Returns whether a wrong value differs by NaN or infinity.
  bool differsInOverflows() const;
  /// Returns the first entry of `ownTypes` in which the relative error of the
  /// simulated ranks is larger than accuracyOf() accepts. Returns null if there
  /// is no such entry. The pointer points into this object.
  const AccurateValue *accuracyLoss() const;
};

/// Writes `findings` as JSON to the file `path`. Does nothing if `path` is
/// empty. Returns an error if the file cannot be written.
Status writeReport(const std::string &path, const Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_VERIFYREPORT_H
