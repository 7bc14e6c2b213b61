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
  /// True if the communication changes the sharding of a value, and two
  /// operands need the value in the new sharding. The two operands belong to
  /// one op or to two ops. The ranks communicate only once for both operands.
  ///
  /// A Choice is one way to compute an op. A Choice contains the costs of this
  /// way. If `isShared` is true, the costs Choice::picoseconds,
  /// Choice::receivedBytes() and Choice::calls() do not include the
  /// communication.
  ///
  /// Example: the ops A and B read the value x. Both ops need all elements of x
  /// on each rank. One all_gather gathers x for both ops. A Choice of A lists
  /// this all_gather. `isShared` is true, because B also needs the all_gather.
  bool isShared = false;

  bool operator==(const PricedStep &) const = default;
};

/// One way to compute an op along one mesh axis, and the costs of this way. The
/// costs assume that all other ops keep the shardings that the sharding search
/// has chosen for them. There are three kinds of ways:
///
///  - The axis splits a dim of an operand or of the result.
///  - All ranks along the axis compute the same elements of the result.
///  - An operand is partial: each rank along the axis has one term of a sum.
///    From its term, each rank computes one term of the result.
struct Choice {
  /// Text that tells the user how the op is computed, such as "split dim 1 of
  /// 'w'".
  std::string what;
  /// Communications that the ranks need to compute the op. A Choice is one way
  /// to compute the op, and `steps` belongs to this way. Each communication
  /// changes the sharding of an operand, of a result, or of an intermediate
  /// value of the op.
  ///
  /// The list also contains shared communications (PricedStep::isShared). A
  /// communication is shared if two operands need it, but the ranks run it only
  /// once. Example: the ops A and B both need an all_gather of the tensor x.
  /// The ranks run one all_gather, and then both A and B read its output.
  std::vector<PricedStep> steps;
  /// Number of bytes that one rank stores for the op: its shards of the op's
  /// results, and of the weights that only this op reads.
  int64_t memoryBytes = 0;
  /// Estimated time in picoseconds: the computation of the op, plus the
  /// communications in `steps`. The time of a shared communication
  /// (PricedStep::isShared) is not included. A communication is shared if two
  /// operands need it, but the ranks run it only once. Example: the ops A and B
  /// both need an all_gather of the tensor x. The ranks run the all_gather for
  /// B in any case, so it adds no time to A.
  ///
  /// The estimate is 0 if the user gave no cluster file to the compiler. A
  /// cluster file contains the speeds of the devices and of the network.
  int64_t picoseconds = 0;
  /// Reason why the sharding search must not choose this way to compute an op.
  /// Empty if the search may choose it.
  std::string refused;

  /// Returns the number of bytes that one rank receives: the sum over all
  /// communications in `steps` that are not shared (PricedStep::isShared). A
  /// communication is shared if two operands need it, but the ranks run it only
  /// once. Example: the ops A and B both need an all_gather of the tensor x.
  /// The ranks run the all_gather for B in any case, so it adds no bytes to A.
  int64_t receivedBytes() const;
  /// Returns the number of communications in `steps` that are not shared
  /// (PricedStep::isShared). A communication is shared if two operands need it,
  /// but the ranks run it only once. Example: the ops A and B both need an
  /// all_gather of the tensor x. The ranks run the all_gather for B in any
  /// case, so calls() does not count it for A.
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
  /// Best alternatives to `chosen`, at most five. The member `chosen` is the
  /// way in which the sharding search decided to compute the op. An alternative
  /// is another way to compute the op. The list has this order:
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
  /// Kind of the producer or consumer, as text for the user:
  ///
  ///   "weight", "input", "output"  weight, input or output of the model
  ///   "pin"           request for a sharding by an option or by the model
  ///   any other text  name of an op without its dialect, such as "matmul"
  ///
  /// A requested sharding counts as a consumer, because the compiler changes
  /// the sharding of the tensor for it.
  std::string op;
  /// Name of the Endpoint. An Endpoint is the producer or one consumer of a
  /// tensor. The member `op` contains the kind of the Endpoint. The kind
  /// decides which name the member `node` contains:
  ///
  ///   kind                          name
  ///   "weight", "input", "output"   name of the weight, input or output
  ///   "pin"                         name of the tensor that the request is for
  ///   name of an op                 name of the ONNX node from which the op
  ///                                 was imported
  std::string node;
  /// Source line that this Endpoint comes from, as "FILE:LINE", such as
  /// "model.py:12". An Endpoint is the producer or one consumer of a tensor.
  /// For example, line 12 of the Python file model.py calls `matmul`, and the
  /// exported ONNX model contains this matmul. Empty if the line is unknown.
  std::string source;
  /// Request for the sharding of one tensor, as text such as
  /// "--shard 'y=[-,tp]'". This text means that the user wants the mesh axis tp
  /// to split dim 1 of the tensor y. Empty if there is no request for the
  /// tensor. The member `op` decides for which tensor the request is:
  ///
  ///   op                            tensor
  ///   "weight", "input", "output"   this weight, input or output of the model
  ///   "pin"                         tensor whose sharding is requested
  ///   name of an op                 result of the op
  std::string pin;
  /// Decisions of the sharding search about one op. An Endpoint is the producer
  /// or one consumer of a tensor. If this Endpoint is an op, the list contains
  /// the decisions about this op, at most one per mesh axis. For example, one
  /// decision is that the mesh axis tp splits dim 1 of the result of the op.
  ///
  /// The list is empty if there are no decisions, for example because this
  /// Endpoint is an input or output of the model.
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
