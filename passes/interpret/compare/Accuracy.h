//===- Accuracy.h - accuracy of ranks beside that of one rank -------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H
#define PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H

#include "passes/interpret/compare/VerifiedValue.h"

namespace pcc::interpret {

/// Errors of one value that is computed in the model's own types, such as bf16:
/// by simulated ranks, and by the unpartitioned model. An error is the
/// difference from the value that the unpartitioned model has in f64.
struct AccurateValue {
  /// Comparison of the simulated ranks' shards with the value in f64. Its
  /// tolerance is the result of accuracyOf().
  VerifiedValue ranks;
  /// Largest error of the unpartitioned model in its own types, relative to the
  /// value in f64.
  double errorOfOneRank = 0;
};

/// Returns the largest error that the ranks may have for `value`. It is 20
/// times the larger of two errors:
///  - `errorOfOneRank`, the error of the unpartitioned model;
///  - the error of one rounding to the narrowest float type among `value` and
///    all values from which it is computed, such as 2^-8 for bf16.
double accuracyOf(mlir::Value value, double errorOfOneRank);

/// Returns whether `module` has floats narrower than f64.
bool hasNarrowFloats(mlir::ModuleOp module);

/// Formats the error of a value on the ranks beside its error on one rank.
/// Example:
///   differs at [0, 3] on rank 1: expected 0.5, got 0.25 (relative error 0.5),
///   where one rank has a relative error of 1e-07
std::string describe(const AccurateValue &value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H
