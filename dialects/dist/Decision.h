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

/// One communication of a reshard (a change of sharding): a collective, or an
/// exchange, which is a set of pairwise sends. The members are the facts from
/// which the price of the communication was computed.
struct PricedStep {
  /// Name of the communication, such as "all_gather" or "exchange".
  std::string kind;
  /// Names of the mesh axes over which the ranks of a group communicate.
  std::vector<std::string> axes;
  /// Number of ranks in each communicating group.
  int64_t ranks = 1;
  /// Distance from one rank of a group to the next: 4 for the group of ranks 0,
  /// 4 and 8. It is 1 for a group of one rank.
  int64_t stride = 1;
  /// Largest number of bytes that any rank of the group receives.
  int64_t receivedBytes = 0;
  /// Whether another op needs the same communication, because it reads the same
  /// value in the same sharding. A shared step is listed but adds nothing to
  /// the costs of the choice.
  bool isShared = false;

  bool operator==(const PricedStep &) const = default;
};

/// One way to compute an op along one mesh axis. There are three ways:
///
///  - split a dim of the op,
///  - replicate the op,
///  - leave the result of the op a partial sum.
///
/// The costs of a choice hold for the current shardings of all other ops. A
/// weight that only this op reads is an exception: it gets the sharding that
/// this choice needs.
struct Choice {
  /// Text that describes the choice to the user, such as "split dim 1 of 'w'".
  std::string what;
  /// Communication that the op needs under this choice. Steps that another op
  /// needs as well are included (PricedStep::isShared).
  std::vector<PricedStep> steps;
  /// Bytes that one rank stores under this choice. Counts the rank's shards of
  /// the op's results, and of the weights that only this op reads.
  int64_t memoryBytes = 0;
  /// Estimated time of the op and its communication, in picoseconds. Shared
  /// steps (PricedStep::isShared) count as 0. The time is 0 without a cluster
  /// profile.
  int64_t picoseconds = 0;
  /// Reason why the search must not select this choice, whatever its price.
  /// Empty if the search may select it.
  std::string refused;

  /// Returns the sum of the received bytes of all `steps`. Shared steps
  /// (PricedStep::isShared) count as 0.
  int64_t receivedBytes() const;
  /// Returns the number of `steps` that are not shared (PricedStep::isShared).
  int64_t calls() const;
  bool operator==(const Choice &) const = default;
};

/// A decision of the sharding search: the choice that the search made for one
/// op along one mesh axis, and the best alternatives to that choice.
struct Decision {
  /// Name, without dialect, that the op had when the search decided: "softmax".
  std::string op;
  /// Name of the mesh axis along which the op was split, replicated or partial.
  std::string axis;
  Choice chosen;
  /// Best alternatives to `chosen`, sorted in this order:
  ///
  ///  - alternatives that the search may select, by time, then by received
  ///    bytes,
  ///  - alternatives that the search must not select (Choice::refused).
  std::vector<Choice> others;

  bool operator==(const Decision &) const = default;
};

/// The producer or one consumer of a resharded value: an op, an input or output
/// of the model, or a pin (a sharding that the user or the model requests).
struct Endpoint {
  /// Kind of the producer or consumer: the name of an op ("matmul"), "weight",
  /// "input", "output" or "pin".
  std::string op;
  /// Name of the producer or consumer in the model. For an op, the name of the
  /// ONNX node from which it was imported. For a pin, the name of the pinned
  /// value.
  std::string node;
  /// Place in the source file of the program that exported the model, as
  /// "FILE:LINE". Empty if the place is unknown.
  std::string source;
  /// Requested sharding (pin) that fixes the sharding of the value, as text
  /// such as "--shard 'y=[-,tp]'". Empty if no sharding was requested.
  std::string pin;
  /// Decisions that the sharding search recorded for the op, at most one per
  /// mesh axis. Empty if there are none.
  std::vector<Decision> decisions;

  bool operator==(const Endpoint &) const = default;
};

/// The reason for a reshard (a change of sharding): the op that produces the
/// value, and the consumers that need the value in another sharding.
struct Cause {
  /// Producer of the value whose sharding is changed.
  Endpoint by;
  /// Consumers that need the resharded value in its new sharding.
  std::vector<Endpoint> uses;

  bool operator==(const Cause &) const = default;
};

/// Returns `location` with `decisions` attached. Replaces the decisions or the
/// cause that `location` already has. If `decisions` is empty, the returned
/// location has neither decisions nor a cause.
mlir::Location withDecisions(mlir::Location location,
                             const std::vector<Decision> &decisions);
/// Returns the decisions that withDecisions() attached to `location`. Returns
/// an empty list if there are none. A field that is absent, because a user has
/// edited the IR, gets its default value.
std::vector<Decision> decisionsOf(mlir::Location location);

/// Returns `location` with `cause` attached. Replaces the decisions or the
/// cause that `location` already has.
mlir::Location withCause(mlir::Location location, const Cause &cause);
/// Returns the cause that withCause() attached to `location`, or nullopt if
/// there is none.
std::optional<Cause> causeOf(mlir::Location location);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_DECISION_H
