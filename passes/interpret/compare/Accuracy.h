//===- Accuracy.h - accuracy of ranks beside that of one rank -------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H
#define PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H

#include "passes/interpret/compare/VerifiedValue.h"

namespace pcc::interpret {

/// Largest accepted ratio of two errors: the error of the partitioned model,
/// and the error of the unpartitioned model. Both errors are differences from a
/// computation in f64. The ranks of the partitioned model add numbers in
/// another order. This makes the error 2 to 4 times as large, which is
/// accepted. If ranks subtract numbers that are almost equal (cancellation),
/// the error can be hundreds of times as large. This is not accepted. The
/// function measureNoise() uses the constant as well.
inline constexpr double lossOfRanks = 20;

/// A value computed in the model's own types, by the unpartitioned model and by
/// simulated ranks. Errors are differences from the value in f64.
struct AccurateValue {
  /// Comparison of the partitioned model on simulated ranks with the
  /// computation in f64. The comparison contains the largest error on the
  /// ranks. The largest accepted error is the result of accuracyOf().
  VerifiedValue ranks;
  /// Largest error of an element in the unpartitioned model. The error is the
  /// difference from the element in f64, divided by the largest magnitude of an
  /// element in f64.
  double errorOfOneRank = 0;
};

/// Returns the largest error that the partitioned model may have for `value`.
/// `errorOfOneRank` is the error of the unpartitioned model for `value`. The
/// result is 20 times the larger one of these two numbers:
///
///  - `errorOfOneRank`
///  - the largest relative error of one rounding to a float type, such as 2^-8
///    for bf16. This type is the narrowest float type of `value` and of all
///    values from which `value` is computed.
double accuracyOf(mlir::Value value, double errorOfOneRank);

/// Returns whether `module` has floats narrower than f64.
bool hasNarrowFloats(mlir::ModuleOp module);

/// Formats the difference between the partitioned model and the computation in
/// f64. At least one element of `value` must differ. Example:
///
///     differs at [0, 3] on rank 1: expected 0.5, got 0.25 (relative error 0.5),
///     where one rank has a relative error of 1e-07
///
/// In this example, the first element that differs has the indices [0, 3], and
/// rank 1 has computed it. The value in f64 is 0.5. The largest error of all
/// elements on the ranks is 0.5. The largest error of the unpartitioned model
/// is 1e-07.
std::string describe(const AccurateValue &value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H
