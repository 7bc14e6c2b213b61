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
  /// Comparisons of the partitioned model on simulated ranks with the
  /// unpartitioned model. There is one entry for each model output.
  ///
  /// If the model is a training step, the step is executed several times. There
  /// is then one entry for each model output of each execution. There is also
  /// one entry for each parameter that the step writes, after the last
  /// execution.
  std::vector<VerifiedValue> outputs;
  /// Comparisons of the compiled executables with the unpartitioned model.
  /// There is one entry for each model output. The list is empty until the
  /// executables have been executed.
  ///
  /// If the model is a training step, the executables execute the step several
  /// times. The list then has one entry for each model output of the last
  /// execution. The list also has one entry for each parameter that the
  /// executables have written to a file after the last execution.
  std::vector<VerifiedValue> executed;
  /// Accuracy of the partitioned model when each op result is rounded to its
  /// element type in the model, such as bf16. An entry has two errors: one of
  /// the simulated ranks, and one of the unpartitioned model on one rank. Both
  /// are relative differences from the unpartitioned model in f64. There is one
  /// entry per model output, and per execution if a training step is executed
  /// several times. A training step also has one entry per parameter that it
  /// writes, after the last execution. Tensors without floats have no entry.
  /// The list is empty if all floats are f64, or if `outputs` contains a wrong
  /// value.
  std::vector<AccurateValue> ownTypes;
  /// First op result, in the order of execution, that the simulated ranks
  /// compute differently from the unpartitioned model. It helps the user to
  /// find the cause of a wrong model output. It is empty in three cases:
  ///
  ///  - No comparison in the member `outputs` has found a wrong value.
  ///  - The model is a training step.
  ///  - No such op result was found. For example, op results without a name in
  ///    the ONNX model are not compared.
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
