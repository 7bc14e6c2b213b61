//===- VerifiedValue.h - one value and how well the ranks do on it --------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_VERIFIEDVALUE_H
#define PCC_PASSES_INTERPRET_COMPARE_VERIFIEDVALUE_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Evaluator.h"
#include "passes/interpret/compare/Comparison.h"

namespace pcc::interpret {

struct VerifiedValue {
  /// Of the ONNX model.
  std::string name, node;
  Comparison comparison;
};

/// What is still equal between elements of this type: in f64 only the order of
/// additions differs, in narrower types every op rounds.
double toleranceOf(mlir::Type elementType, graph::Numerics numerics);

/// The largest of all that `value` is computed from: a model may well end in
/// f32 what it computed in bf16.
double toleranceOf(mlir::Value value, graph::Numerics numerics);

/// "differs at [0, 3] on rank 1: expected 0.5, got 0.25".
std::string describe(const Comparison &comparison);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_VERIFIEDVALUE_H
