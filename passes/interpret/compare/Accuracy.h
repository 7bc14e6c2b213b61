//===- Accuracy.h - accuracy of ranks beside that of one rank -------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H
#define PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H

#include "passes/interpret/compare/VerifiedValue.h"

namespace pcc::interpret {

/// Largest accepted ratio of two errors: the error of a partitioned model,
/// divided by the error of the unpartitioned model. Both errors are differences
/// from a computation in f64. Example: if the error of the unpartitioned model
/// is 0.001, an error of 0.02 is accepted for the partitioned model.
///
/// The ranks of the partitioned model add numbers in another order. This makes
/// the error 2 to 4 times as large, which is accepted. If ranks subtract
/// numbers that are almost equal, the error can be hundreds of times as large.
/// This is not accepted.
///
/// The function measureNoise() also uses the constant. It executes the
/// unpartitioned model with random rounding errors, and measures the largest
/// change of a result. The partitioned model may differ by 20 times this
/// change.
inline constexpr double lossOfRanks = 20;

/// Two errors of one output or parameter of the model: the error of the
/// partitioned model on the simulated ranks, and the error of the unpartitioned
/// model on one rank. Both models round each op result to its element type,
/// such as bf16. Each error is the largest relative difference of an element
/// from the unpartitioned model in f64.
struct AccurateValue {
  /// Comparison of the output or parameter on the simulated ranks with the
  /// tensor that the unpartitioned model computes in f64. An element counts as
  /// equal if its relative error is not too large. accuracyOf() computes the
  /// largest relative error that is accepted. The result of
  /// `ranks.comparison.maxError()` is the largest relative error that the
  /// simulated ranks have.
  VerifiedValue ranks;
  /// Largest relative error of an element of the output or parameter on one
  /// rank. One rank executes the unpartitioned model and rounds each op result
  /// to its element type, such as bf16. The relative error of an element is the
  /// following number:
  ///
  ///     |x − y| / m
  ///
  ///  - x is the element on the one rank.
  ///  - y is the same element, computed in f64.
  ///  - m is the largest magnitude of an element of the output or parameter,
  ///    computed in f64.
  ///
  /// Example: the output is [1, 4] in f64 and [1, 3] on the one rank. The
  /// member is then 1/4.
  double errorOfOneRank = 0;
};

/// Returns the largest relative error that the simulated ranks may have for
/// `value`. Relative errors are differences from a computation in f64, divided
/// by the largest magnitude of an element in f64. `errorOfOneRank` is the
/// relative error of the unpartitioned model for `value`. The result is 20
/// times the larger one of these two numbers:
///
///  - `errorOfOneRank`
///  - the relative error of one rounding. The function examines the float types
///    of `value` and of all values from which `value` is computed. It takes the
///    rounding error of the least precise of these types, such as 2^-8 for
///    bf16.
///
/// Example: `errorOfOneRank` is 0.01, and the least precise type is bf16. The
/// rounding error 2^-8 is smaller than 0.01, so the result is 20 · 0.01 = 0.2.
double accuracyOf(mlir::Value value, double errorOfOneRank);

/// Returns whether `module` has floats narrower than f64.
bool hasNarrowFloats(mlir::ModuleOp module);

/// Returns a text about the first element for which the error of the simulated
/// ranks is too large. `value` must have such an element. Example:
///
///     differs at [0, 3] on rank 1: expected 0.5, got 0.25 (relative error 0.5),
///     where one rank has a relative error of 1e-07
///
/// In this example, the element has the indices [0, 3]. Rank 1 has computed
/// 0.25 for the element. The computation in f64 gives 0.5. The other two
/// numbers are the largest relative errors of all elements: 0.5 on the
/// simulated ranks, and 1e-07 in the unpartitioned model. A relative error is a
/// difference divided by the largest magnitude of an element in f64.
std::string describe(const AccurateValue &value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H
