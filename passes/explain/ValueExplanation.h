//===- ValueExplanation.h - sharding of one value, its origin and readers -===//

#ifndef PCC_PASSES_EXPLAIN_VALUEEXPLANATION_H
#define PCC_PASSES_EXPLAIN_VALUEEXPLANATION_H

#include "dialects/dist/Decision.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace pcc::explain {

/// The effect of one mesh axis on a value, and the reason for it.
struct Origin {
  /// Name of the mesh axis.
  std::string axis;
  /// Effect of the mesh axis on the value: "dim 1 is split", "partial" or
  /// "whole".
  std::string what;
  /// Path through the program from the explained value to the op or value that
  /// decided the sharding. Each element is a text such as "matmul 'fc1'".
  std::vector<std::string> steps;
  /// One line of text: why the op or value at the end of `steps` causes the
  /// effect of the axis.
  std::string reason;
  /// Decisions of the sharding search about the last op of `steps`, along this
  /// mesh axis. Each has its priced alternatives. May be empty.
  std::vector<dist::Decision> decisions;
};

/// One reader of a value: an op, a pin (sharding requested by the user) or an
/// output of the model.
struct ValueUse {
  /// The reader of the value: an op, a pin or an output.
  dist::Endpoint place;
  /// Number of the pipeline stage that reads the value.
  int64_t stage = 0;
  /// Sharding in which the value is read, as text.
  std::string sharding;
  /// Communication steps that bring the value into this sharding; empty if none
  /// are needed.
  std::vector<dist::PricedStep> reshard;
};

/// Explanation of one value: its sharding, the reasons for it, and the ops that
/// read it.
struct ValueExplanation {
  /// Name of the value in the model.
  std::string name;
  /// The op, input or weight that produces the value.
  dist::Endpoint maker;
  /// Number of the pipeline stage that computes the value; 0 for an input.
  int64_t stage = 0;
  /// Element type, such as "f32".
  std::string dtype;
  /// Global shape, and shape on one rank, padding included.
  std::vector<int64_t> shape, localShape;
  /// Size in bytes on one rank.
  int64_t localBytes = 0;
  /// Sharding of the value, as text; empty if it has none.
  std::string sharding;
  /// Reasons for the sharding, one per mesh axis of more than one rank.
  std::vector<Origin> origins;
  /// Readers of the value, including those that read it through a reshard.
  std::vector<ValueUse> uses;
};

/// Returns the explanations of all values whose names match `pattern`, in
/// program order. `pattern` is a name or a glob. Values are inputs, outputs,
/// weights and op results with a name in the model. `module` must have passed
/// phase 4-shard and no later phase.
std::vector<ValueExplanation> explainValues(mlir::ModuleOp module,
                                            llvm::StringRef pattern);

/// Returns the names of values in `module` that are most similar to `name` by
/// edit distance, at most three.
std::vector<std::string> findSimilarNames(mlir::ModuleOp module,
                                          llvm::StringRef name);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_VALUEEXPLANATION_H
