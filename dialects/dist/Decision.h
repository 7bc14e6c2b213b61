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

/// Record of one communication between ranks that changes the sharding of a
/// tensor. The communication is a collective, or a set of pairwise sends
/// ("exchange"). The command `pcc explain` shows the record to the user.
struct PricedStep {
  /// Name of the communication, such as "all_gather" or "exchange".
  std::string kind;
  /// Names of the mesh axes along which ranks communicate. For example, on a
  /// mesh with the axes dp and tp, `axes` is ["tp"] if each rank communicates
  /// with the ranks that have the same dp coordinate.
  std::vector<std::string> axes;
  /// Number of ranks in each communicating group.
  int64_t ranks = 1;
  /// Distance from one rank of a group to the next: 4 for the group of ranks 0,
  /// 4 and 8. It is 1 for a group of one rank.
  int64_t stride = 1;
  /// Number of bytes that one rank receives in this communication. If the
  /// numbers differ between ranks, the largest number.
  int64_t receivedBytes = 0;
  /// True if the communication reshards a value for one operand, and another
  /// operand needs the same value in the same new sharding. The communication
  /// then serves both operands, and Choice::picoseconds and
  /// Choice::receivedBytes() do not include it.
  bool isShared = false;

  bool operator==(const PricedStep &) const = default;
};

/// One way to compute an op along one mesh axis:
///
///  - The ranks along the axis split a dim of an operand or of the result.
///  - All ranks along the axis compute the same.
///  - Each rank along the axis computes a partial sum of the result.
///
/// All costs assume that the other ops keep their current shardings.
struct Choice {
  /// Text that tells the user how the op is computed, such as "split dim 1 of
  /// 'w'".
  std::string what;
  /// Communications that ranks need if they compute the op in this way. Each
  /// communication changes the sharding of an operand, of a result, or of an
  /// intermediate value of the op. The list also contains communications whose
  /// PricedStep::isShared is true. They serve another operand at the same time.
  std::vector<PricedStep> steps;
  /// Number of bytes that one rank stores for the op: its shards of the op's
  /// results, and of the weights that only this op reads.
  int64_t memoryBytes = 0;
  /// Estimated time in picoseconds: the computation of the op, plus the
  /// communications in `steps`. A communication whose PricedStep::isShared is
  /// true also serves another operand, so its time is not included. The
  /// estimate is 0 if the user gave no cluster file to the compiler. A cluster
  /// file contains the speeds of the devices and of the network.
  int64_t picoseconds = 0;
  /// Reason why the sharding search must not choose this way to compute an op.
  /// Empty if the search may choose it.
  std::string refused;

  /// Returns the number of bytes that one rank receives: the sum over all
  /// communications in `steps`. A communication whose PricedStep::isShared is
  /// true also serves another operand, so its bytes are not included.
  int64_t receivedBytes() const;
  /// Returns the number of communications in `steps`. A communication whose
  /// PricedStep::isShared is true also serves another operand, so it is not
  /// counted.
  int64_t calls() const;
  bool operator==(const Choice &) const = default;
};

/// The way in which the sharding search decided to compute one op along one
/// mesh axis, and the best alternatives.
struct Decision {
  /// Name of the op without its dialect, such as "softmax", at the time of the
  /// sharding search.
  std::string op;
  /// Name of the mesh axis for which the sharding search made this decision
  /// about the op.
  std::string axis;
  Choice chosen;
  /// Best other ways to compute the op, at most five, in this order:
  ///
  ///  1. ways that the sharding search was allowed to choose
  ///  2. ways that the sharding search was not allowed to choose: the member
  ///     Choice::refused contains the reason
  ///
  /// In each of these two groups, the fastest way comes first
  /// (Choice::picoseconds). If two ways are equally fast, the way with the
  /// smaller Choice::receivedBytes() comes first.
  std::vector<Choice> others;

  bool operator==(const Decision &) const = default;
};

/// The producer or one consumer of a resharded value: an op, an input or output
/// of the model, or a pin (requested sharding).
struct Endpoint {
  /// Text that tells the user which kind of producer or consumer this is:
  ///
  ///  - "weight": a weight of the model
  ///  - "input", "output": an input or output of the model
  ///  - "pin": the user's request for a sharding of the value
  ///  - any other text: the name of an op without its dialect, such as "matmul"
  std::string op;
  /// Name of this producer or consumer of a resharded value. For an op, the
  /// name of the ONNX node from which it was imported. For a pin (requested
  /// sharding), the name of the value that the user pinned.
  std::string node;
  /// Place in the source file of the program that exported the model, as
  /// "FILE:LINE". Empty if the place is unknown.
  std::string source;
  /// Requested sharding (pin) that fixes the sharding of the value, as text
  /// such as "--shard 'y=[-,tp]'". Empty if no sharding was requested.
  std::string pin;
  /// Decisions of the sharding search about this op, at most one per mesh axis,
  /// such as "split dim 1" for the axis tp. Empty if there are none.
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

/// Returns `location` with a record of `decisions`, the choices of the sharding
/// search for one op. Replaces any record that withDecisions() or withCause()
/// attached before. If `decisions` is empty, only removes that record.
mlir::Location withDecisions(mlir::Location location,
                             const std::vector<Decision> &decisions);
/// Returns the sharding decisions that withDecisions() attached to `location`,
/// or an empty list.
std::vector<Decision> decisionsOf(mlir::Location location);

/// Returns `location` with a record of `cause`, the reason for a reshard (a
/// change of sharding). Replaces any record that withDecisions() or withCause()
/// attached before.
mlir::Location withCause(mlir::Location location, const Cause &cause);
/// Returns the reason for a reshard (a change of sharding) that withCause()
/// attached to `location`, or nullopt if there is none.
std::optional<Cause> causeOf(mlir::Location location);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_DECISION_H
