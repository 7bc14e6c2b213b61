//===- Accuracy.h - accuracy of ranks beside that of one rank -------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H
#define PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H

#include "passes/interpret/compare/VerifiedValue.h"

namespace pcc::interpret {

/// A value that the unpartitioned model and simulated ranks have computed in
/// the model's own types. Errors are those against the same value in f64.
struct AccurateValue {
  /// Error of the ranks. Its tolerance is the largest error that ranks may have
  /// beside that of one rank.
  VerifiedValue ranks;
  /// Largest error of the unpartitioned model (see Comparison).
  double errorOfOneRank = 0;
};

/// Returns the largest error at which the ranks count as accurate, for a value
/// that the unpartitioned model computes with the error `errorOfOneRank`: 20
/// times that error, but at least 20 roundings to the narrowest type of `value`
/// and of the values from which it is computed.
double accuracyOf(mlir::Value value, double errorOfOneRank);

/// Returns whether `module` has floats narrower than f64. Only then its own
/// types differ from those of a verification in f64.
bool hasNarrowFloats(mlir::ModuleOp module);

/// Formats the loss of accuracy of `value`, such as:
///   differs at [0, 3] on rank 1: expected 0.5, got 0.25 (relative error 0.5),
///   where one rank has a relative error of 1e-07
std::string describe(const AccurateValue &value);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_ACCURACY_H
