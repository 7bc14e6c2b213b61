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

/// One collective or exchange of a reshard (a change of sharding), with the
/// facts from which its price was computed.
struct PricedStep {
  /// Name of the communication, such as "all_gather" or "exchange".
  std::string kind;
  /// Names of the mesh axes along which the ranks of a communicating group
  /// differ.
  std::vector<std::string> axes;
  /// Number of ranks in each communicating group.
  int64_t ranks = 1;
  /// Difference between the numbers of consecutive ranks in a group: 4 for the
  /// group of ranks 0, 4, 8. It is 1 for a group of one rank.
  int64_t stride = 1;
  /// Largest number of bytes that any rank of the group receives.
  int64_t receivedBytes = 0;
  /// Whether another reader of the value needs this communication as well. If
  /// so, it is not part of the price of the op for which it is recorded.
  bool isShared = false;

  bool operator==(const PricedStep &) const = default;
};

/// One way to compute an op along one mesh axis: split a dim, replicate the op,
/// or leave its result a partial sum. The price assumes that the producers and
/// readers of the op's values keep their shardings. A weight that only this op
/// reads gets the sharding that the op needs.
struct Choice {
  /// Text that describes the choice to the user, such as "split dim 1 of 'w'".
  std::string what;
  /// Communication that the op needs under this choice. Includes communication
  /// that another reader of the value needs as well (PricedStep::isShared).
  std::vector<PricedStep> steps;
  /// Bytes that one rank holds under this choice: the results of the op, and
  /// the weights that only this op reads.
  int64_t memoryBytes = 0;
  /// Estimated time, in picoseconds, of the op and of its communication that is
  /// not shared with another reader; 0 without a cluster profile. Choices are
  /// ordered by this time. Choices of equal time are ordered by bytes.
  int64_t picoseconds = 0;
  /// Reason why the search must not take this choice, whatever its price. Empty
  /// if the search may take it.
  std::string refused;

  /// Returns the sum of PricedStep::receivedBytes over the communication that
  /// is not shared with another reader, in bytes.
  int64_t receivedBytes() const;
  /// Returns how many communication steps are not shared with another reader.
  int64_t calls() const;
  bool operator==(const Choice &) const = default;
};

/// A decision of the sharding search: the choice that it made for one op along
/// one mesh axis, and the best alternatives to that choice.
struct Decision {
  /// Name, without dialect, that the op had when the search decided: "softmax".
  std::string op;
  /// Name of the mesh axis along which the op was split, replicated or partial.
  std::string axis;
  Choice chosen;
  /// Alternatives to the choice that was made. Allowed ones come first, the
  /// cheapest at the front. Alternatives that must not be chosen come last.
  std::vector<Choice> others;

  bool operator==(const Decision &) const = default;
};

/// The producer or one consumer of a resharded value: an op, an input or output
/// of the model, or a pin (a sharding that the user or the model asks for).
struct Endpoint {
  /// Kind of the producer or consumer: the name of an op ("matmul"), "weight",
  /// "input", "output" or "pin".
  std::string op;
  /// Name of the ONNX node of the op, of the weight, or of the model's input or
  /// output.
  std::string node;
  /// Place in the source of the program that exported the model, as
  /// "FILE:LINE". Empty if it is unknown.
  std::string source;
  /// Text of the pin (requested sharding) that fixes the sharding of the value,
  /// such as "--shard 'y=[-,tp]'". Empty if there is no pin.
  std::string pin;
  /// Recorded decisions of the sharding search about the op, at most one per
  /// mesh axis.
  std::vector<Decision> decisions;

  bool operator==(const Endpoint &) const = default;
};

/// The reason for a reshard (a change of sharding): the op that produces the
/// value, and the consumers that need it in another sharding.
struct Cause {
  /// Producer of the value whose sharding is changed.
  Endpoint by;
  /// Consumers that need the value in the new sharding.
  std::vector<Endpoint> uses;

  bool operator==(const Cause &) const = default;
};

/// Returns `location` with `decisions` attached. They replace the decisions or
/// the cause that withDecisions() or withCause() attached earlier. If
/// `decisions` is empty, returns `location` without any such record.
mlir::Location withDecisions(mlir::Location location,
                             const std::vector<Decision> &decisions);
/// Returns the decisions that withDecisions() attached to `location`; empty if
/// there are none. If a user has edited the IR and removed a field, the field
/// has its default value.
std::vector<Decision> decisionsOf(mlir::Location location);

/// Returns `location` with `cause` attached. It replaces the decisions or the
/// cause that withDecisions() or withCause() attached earlier.
mlir::Location withCause(mlir::Location location, const Cause &cause);
/// Returns the cause that withCause() attached to `location`, or nullopt if
/// there is none.
std::optional<Cause> causeOf(mlir::Location location);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_DECISION_H
