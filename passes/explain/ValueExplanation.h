//===- ValueExplanation.h - sharding of one value, its origin and readers -===//

#ifndef PCC_PASSES_EXPLAIN_VALUEEXPLANATION_H
#define PCC_PASSES_EXPLAIN_VALUEEXPLANATION_H

#include "dialects/dist/Decision.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace pcc::explain {

/// The reason for what one mesh axis does to a value.
struct Origin {
  /// Name of the axis.
  std::string axis;
  /// Effect of the axis: "dim 1 is split", "partial" or "whole".
  std::string what;
  /// Ops and values from the explained value to the one that was decided, such
  /// as "matmul 'fc1'".
  std::vector<std::string> steps;
  /// Reason at the last step, as one line.
  std::string reason;
  /// Priced alternatives of the op at the last step, along the axis; may be
  /// empty.
  std::vector<dist::Decision> decisions;
};

/// A reader of a value.
struct ValueUse {
  /// The reader: an op, a pin or an output.
  dist::Endpoint place;
  /// Pipeline stage of the reader.
  int64_t stage = 0;
  /// Sharding in which the reader gets the value, as text.
  std::string sharding;
  /// Communicating steps that bring the value into this sharding; empty if none
  /// are needed.
  std::vector<dist::PricedStep> reshard;
};

/// The explanation of one value: its sharding, the reasons for it, and the
/// readers.
struct ValueExplanation {
  /// Name of the value in the model.
  std::string name;
  /// Producer of the value.
  dist::Endpoint maker;
  /// Pipeline stage that makes the value; 0 for inputs.
  int64_t stage = 0;
  /// Element type, such as "f32".
  std::string dtype;
  /// Global shape, and shape on one rank with padding.
  std::vector<int64_t> shape, localShape;
  /// Bytes on one rank.
  int64_t localBytes = 0;
  /// Sharding of the value, as text; empty if it has none.
  std::string sharding;
  /// Reasons, one per axis of more than one rank.
  std::vector<Origin> origins;
  /// Readers of the value, also those behind reshards.
  std::vector<ValueUse> uses;
};

/// Returns the explanations of all values whose names match `pattern`, a name
/// or a glob, in program order. Names are those of inputs, outputs, weights and
/// values of the model. `module` must have passed 4-shard and no later phase.
std::vector<ValueExplanation> explainValues(mlir::ModuleOp module,
                                            llvm::StringRef pattern);

/// Returns at most three names of `module`, those with the smallest edit
/// distance to `name`.
std::vector<std::string> findSimilarNames(mlir::ModuleOp module,
                                          llvm::StringRef name);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_VALUEEXPLANATION_H
