//===- Accuracy.h - accuracy of ranks beside that of one rank -------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H
#define PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H

#include "passes/interpret/compare/VerifiedValue.h"

namespace pcc::interpret {

/// Largest accepted ratio of the error of a partitioned model to the error of
/// the unpartitioned model, both measured against f64. Another order of
/// addition makes the error 2 to 4 times as large, which is accepted. Ranks
/// that subtract almost equal numbers make it hundreds of times as large, which
/// is not accepted. measureNoise() uses the same factor: it measures the change
/// that random rounding errors cause, and accepts differences of up to 20 times
/// this change.
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
  /// largest relative error that is accepted. An element that overflows on one
  /// rank already is left out. The result of
  /// `ranks.comparison.maxError()` is the largest relative error that the
  /// simulated ranks have.
  VerifiedValue ranks;
  /// Largest relative error |x − y| / m of an element of the output or
  /// parameter in the unpartitioned model on one rank. x is the element with
  /// each op result rounded to its element type, such as bf16. y is the element
  /// in f64, and m is the largest magnitude of an element in f64. Example: the
  /// output [1, 3] instead of [1, 4] has the error 1/4. An element for which
  /// |x − y| is infinite or NaN does not count. The error is infinite if
  /// measureNoise() shows that rounding errors alone can make an element
  /// overflow.
  double errorOfOneRank = 0;
};

/// Returns whether a value with this largest relative error on one rank has a
/// correct digit there: the error is below a half. If not, as for a gradient
/// that cancels to nearly 0, or a loss that diverges, relative errors of the
/// value say nothing.
bool hasDigits(double errorOfOneRank);

/// Returns the largest relative error that the simulated ranks may have for
/// `value`: 20 times the larger one of `errorOfOneRank` and one rounding error.
/// The rounding error is that of the least precise float type from which
/// `value` is computed, such as 2^-8 for bf16. Returns infinity if one rank has
/// no correct digit of `value` either.
double accuracyOf(mlir::Value value, double errorOfOneRank);

/// Returns whether `module` has floats narrower than f64.
bool hasNarrowFloats(mlir::ModuleOp module);

/// Returns a text about the first element whose error is too large. There must
/// be one. The indices, the rank and the two numbers after them in the text are
/// those of this element. Both relative errors are the largest of all elements:
///
///   differs at [0, 3] on rank 1: expected 0.5, got 0.25 (relative error 0.5),
///   where one rank has a relative error of 1e-07
std::string describe(const AccurateValue &value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H
