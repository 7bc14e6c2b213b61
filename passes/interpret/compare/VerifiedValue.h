//===- VerifiedValue.h - a compared value and its tolerance ---------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_VERIFIEDVALUE_H
#define PCC_PASSES_INTERPRET_COMPARE_VERIFIEDVALUE_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Evaluator.h"
#include "passes/interpret/compare/Comparison.h"

namespace pcc::interpret {

/// A value that has been compared, with its origin and its errors.
struct VerifiedValue {
  /// Names of the value and of its node in the ONNX model. The node is empty if
  /// it is unknown.
  std::string name, node;
  Comparison comparison;
};

/// Returns the largest error, in the sense of Comparison, at which values of an
/// element type count as equal. It is 1e-12 if values are computed in f64,
/// where only the order of additions differs. It is larger for narrower types,
/// where every op rounds.
double toleranceOf(mlir::Type elementType, graph::Numerics numerics);

/// Returns the largest tolerance of `value` and of all values that it is
/// computed from. A model may cast its result to f32 after it computed in bf16,
/// and the result is then only as precise as bf16.
double toleranceOf(mlir::Value value, graph::Numerics numerics);

/// Returns the text of the first difference, which must exist, such as:
///   differs at [0, 3] on rank 1: expected 0.5, got 0.25 (relative error 0.5)
std::string describe(const Comparison &comparison);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_VERIFIEDVALUE_H
