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
  /// Number of ranks in one group. A group is a set of ranks that communicate
  /// with each other. All groups of the communication have the same number of
  /// ranks. For example, an all_gather on 8 ranks has the groups (0, 1, 2, 3)
  /// and (4, 5, 6, 7). This number is then 4.
  int64_t ranks = 1;
  /// Difference between the numbers of the first two ranks of a group. A group
  /// is a set of ranks that communicate with each other. For example, the
  /// stride of the group (0, 4, 8) is 4. All groups of the communication have
  /// the same stride. The stride of a group of one rank is 1.
  int64_t stride = 1;
  /// Number of bytes that one rank receives in this communication. If the
  /// numbers differ between ranks, the largest number.
  int64_t receivedBytes = 0;
  /// Whether another op needs the same reshard, too. The ranks then run it only
  /// once, whatever this op chooses, and the estimated costs of this op (struct
  /// Choice) do not include it.
  bool isShared = false;

  bool operator==(const PricedStep &) const = default;
};

/// One way to compute an op along one mesh axis, with its costs. The axis
/// splits a dim, or all its ranks compute the same elements, or each rank
/// computes one term of a sum. The costs assume that all other ops keep their
/// chosen shardings.
struct Choice {
  /// Text that tells the user how the op is computed, such as "split dim 1 of
  /// 'w'".
  std::string what;
  /// Communications that this way needs. Each one reshards an operand, a result
  /// or an intermediate value of the op. The list includes shared
  /// communications (PricedStep::isShared).
  std::vector<PricedStep> steps;
  /// Number of bytes that one rank stores for the op: its shards of the op's
  /// results, and of the weights that only this op reads.
  int64_t memoryBytes = 0;
  /// Estimated time in picoseconds: the computation of the op, plus the
  /// communications that are not shared (PricedStep::isShared). 0 if the user
  /// gave no cluster file (the speeds of the devices and of the network).
  int64_t picoseconds = 0;
  /// Reason why the sharding search must not choose this way to compute an op.
  /// Empty if the search may choose it.
  std::string refused;

  /// Returns the number of bytes that one rank receives: the sum over all
  /// communications in `steps` that are not shared (PricedStep::isShared). A
  /// communication is shared if another op needs it, too. Example: the ops A
  /// and B both need an all_gather of the tensor x. Whatever A chooses, the
  /// ranks run the all_gather for B, so it adds no bytes to A. In the same way,
  /// it adds no bytes to B.
  int64_t receivedBytes() const;
  /// Returns the number of communications in `steps` that are not shared
  /// (PricedStep::isShared), see receivedBytes().
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
  /// Best alternatives to `chosen`, at most five: first the alternatives that
  /// the search may choose, then the ones that it must not choose. Each of
  /// these two groups is sorted by estimated time, and ties by received bytes.
  std::vector<Choice> others;

  bool operator==(const Decision &) const = default;
};

/// The producer or one consumer of a resharded value: an op, an input or output
/// of the model, or a sharding constraint (by --shard or by an annotation of
/// the model).
struct Endpoint {
  /// Kind of the producer or consumer: "weight", "input" or "output" of the
  /// model, "pin" (a sharding constraint by --shard or by an annotation of the
  /// model), or the name of an op without its dialect, such as "matmul".
  std::string op;
  /// Name of the weight, input or output. For a "pin" (sharding constraint),
  /// the name of the tensor that it constrains. For an op, the name of the ONNX
  /// node from which the op was imported.
  std::string node;
  /// Source line of the producer or consumer, as "FILE:LINE", such as
  /// "model.py:12". For example, line 12 of the Python file model.py calls
  /// `matmul`, and the exported ONNX model contains this matmul. Empty if the
  /// line is unknown.
  std::string source;
  /// Option or annotation that fixes the sharding of the weight, input or
  /// output, of the op's result, or of the tensor of a "pin" (sharding
  /// constraint). An example is "--shard 'y=[-,tp]'". Empty if there is none.
  std::string pin;
  /// Decisions of the sharding search about the op, at most one per mesh axis.
  /// Empty if this producer or consumer is not an op.
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

/// Returns `location` with a record of `decisions`, the decisions of the
/// sharding search about one op. Replaces any record that withDecisions() or
/// withCause() attached before. If `decisions` is empty, only removes that
/// record.
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
