//===- VerifiedValue.h - a compared value and its tolerance ---------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_VERIFIEDVALUE_H
#define PCC_PASSES_INTERPRET_COMPARE_VERIFIEDVALUE_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Evaluator.h"
#include "passes/interpret/compare/Comparison.h"

namespace pcc::interpret {

/// A compared value: its name, the node that computes it, and the comparison
/// with the expected tensor.
struct VerifiedValue {
  /// Name of the value, and name of the node that computes the value, both in
  /// the ONNX model. `node` is empty if the node is not known.
  std::string name, node;
  Comparison comparison;
  /// Op that computes the value, such as "graph.mul", and its place in words
  /// (graph::placeText()). Both are empty if the name alone tells the value.
  std::string op = {}, place = {};
};

/// Returns the largest relative error at which two values of an element type
/// count as equal. It is 1e-12 if `numerics` selects f64. If not, it depends on
/// the type, such as 1e-4 for f32.
double toleranceOf(mlir::Type elementType, graph::Numerics numerics);

/// Returns the largest relative error with which an element of `value` counts
/// as equal. It is 1e-12 if `numerics` selects f64. Otherwise, it is the
/// largest tolerance of the element types of `value` and of all values from
/// which `value` is computed. Example: 5e-2 for an f32 that is the cast of a
/// bf16.
double toleranceOf(mlir::Value value, graph::Numerics numerics);

/// Returns the largest relative error at which values of an element type that
/// are no results of the model count as equal. It is larger than toleranceOf():
/// such a value may be the difference of two nearly equal values, which has a
/// large relative error.
double toleranceInside(mlir::Type elementType, graph::Numerics numerics);

/// Returns a text about the first wrong element, which `comparison` must have
/// found. The relative error is the largest of all elements. Example:
///
///     differs at [0, 3] on rank 1: expected 0.5, got 0.25 (relative error 0.5)
std::string describe(const Comparison &comparison);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_VERIFIEDVALUE_H
