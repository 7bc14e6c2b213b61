//===- Accuracy.h - accuracy of ranks beside that of one rank -------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H
#define PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H

#include "passes/interpret/compare/VerifiedValue.h"

namespace pcc::interpret {

/// Factor by which ranks may be less accurate than one rank. Another order of
/// additions costs a factor of 2 to 4. A cancellation costs some hundreds.
inline constexpr double lossOfRanks = 20;

/// A value computed in the model's own types, by the unpartitioned model and by
/// simulated ranks. Errors are differences from the value in f64.
struct AccurateValue {
  /// Error of the ranks, with the tolerance of accuracyOf().
  VerifiedValue ranks;
  /// Largest error of the unpartitioned model.
  double errorOfOneRank = 0;
};

/// Returns the largest error that the ranks may have for `value`: the larger of
///  - 20 times `errorOfOneRank`, the error of the unpartitioned model;
///  - 20 roundings to the narrowest type from which `value` is computed.
double accuracyOf(mlir::Value value, double errorOfOneRank);

/// Returns whether `module` has floats narrower than f64.
bool hasNarrowFloats(mlir::ModuleOp module);

/// Formats the loss of accuracy of `value`, such as:
///   differs at [0, 3] on rank 1: expected 0.5, got 0.25 (relative error 0.5),
///   where one rank has a relative error of 1e-07
std::string describe(const AccurateValue &value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H
