//===- Decision.h - sharding decisions as debug information ---------------===//
//
// For each op, the search of phase `4-shard` records the alternatives that it
// priced. For each reshard, it records the producer of the value and the
// consumers that need another sharding. Both records are metadata of fused
// locations, which the collectives that replace a reshard inherit. They are
// debug information for `pcc explain`: no pass may depend on them.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_DIST_DECISION_H
#define PCC_DIALECTS_DIST_DECISION_H

#include "mlir/IR/Location.h"

#include <optional>
#include <string>
#include <vector>

namespace pcc::dist {

/// One communicating step of a reshard, such as an all-gather, as priced.
struct PricedStep {
  /// Kind of the step: "all_gather", "exchange", …
  std::string kind;
  /// Names of the mesh axes that the communicating group spans.
  std::vector<std::string> axes;
  /// Number of ranks in the group.
  int64_t ranks = 1;
  /// Distance between the numbers of neighbouring ranks in the group.
  int64_t stride = 1;
  /// Most bytes that any rank of the group receives.
  int64_t receivedBytes = 0;
  /// Whether another reader of the value needs the step as well. A shared step
  /// adds nothing to the price of this op.
  bool isShared = false;

  bool operator==(const PricedStep &) const = default;
};

/// One alternative for an op along one mesh axis: split a dim, replicate, or
/// pass a partial sum. All neighbours keep their shardings while it is priced.
/// A weight that only this op reads takes the sharding that the op needs.
struct Choice {
  /// Description for the user: "split dim 1 of 'w'".
  std::string what;
  /// Communication that the op needs under this choice, shared steps included.
  std::vector<PricedStep> steps;
  /// Bytes per rank of the op's results and of the weights that only it reads.
  int64_t memoryBytes = 0;
  /// Modelled picoseconds of the op and of the steps that are not shared; 0
  /// without a cluster profile. Choices are ranked by time, then by bytes.
  int64_t picoseconds = 0;
  /// Reason why the choice is not allowed at any price; empty if it is allowed.
  std::string refused;

  /// Sum of `receivedBytes` over the steps that are not shared.
  int64_t receivedBytes() const;
  /// Number of steps that are not shared.
  int64_t calls() const;
  bool operator==(const Choice &) const = default;
};

/// The choice that was made for one op along one mesh axis, with the best
/// alternatives.
struct Decision {
  /// Name of the op when the decision was made, without dialect: "softmax".
  std::string op;
  /// Name of the mesh axis.
  std::string axis;
  Choice chosen;
  /// Alternatives, cheapest first; those that are refused come last.
  std::vector<Choice> others;

  bool operator==(const Decision &) const = default;
};

/// The producer or one consumer of a resharded value: an op, an input or output
/// of the model, or a pin (a sharding that the user or the model asks for).
struct Endpoint {
  /// Kind: the name of an op ("matmul"), or "weight", "input", "output", "pin".
  std::string op;
  /// Name of the ONNX node, of the weight, or of the input or output.
  std::string node;
  /// FILE:LINE of the program from which the model was exported; may be empty.
  std::string source;
  /// Text of the pin that fixes the sharding, such as "--shard 'y=[-,tp]'";
  /// empty if there is no pin.
  std::string pin;
  /// Decisions about the op, one per mesh axis that was recorded.
  std::vector<Decision> decisions;

  bool operator==(const Endpoint &) const = default;
};

/// The reason for a reshard: the producer of the value and the consumers that
/// need it in another sharding.
struct Cause {
  /// Producer of the value.
  Endpoint by;
  /// Consumers that need the value in another sharding.
  std::vector<Endpoint> uses;

  bool operator==(const Cause &) const = default;
};

/// Returns `location` with `decisions` attached in place of any record that
/// withDecisions or withCause attached before. With an empty list, only removes
/// that record.
mlir::Location withDecisions(mlir::Location location,
                             const std::vector<Decision> &decisions);
/// Returns the decisions attached to `location`; empty if there are none.
/// Fields that an edited dump lacks keep their defaults.
std::vector<Decision> decisionsOf(mlir::Location location);

/// Returns `location` with `cause` attached in place of any record that
/// withDecisions or withCause attached before.
mlir::Location withCause(mlir::Location location, const Cause &cause);
/// Returns the cause attached to `location`, or nullopt if there is none.
std::optional<Cause> causeOf(mlir::Location location);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_DECISION_H
