//===- CollectiveFacts.h - bytes and seconds of collectives ---------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H
#define PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H

#include "passes/7-emit/program/ModelFacts.h"
#include "passes/plan/cluster/Cluster.h"

#include <nlohmann/json_fwd.hpp>

namespace pcc::emit {

/// Entry of `collectives` in bundle.json: one collective, or several equal ones
/// that one ONNX node needs.
struct CollectiveFacts {
  /// Kind of the collective, such as "all_reduce".
  std::string kind;
  /// Names of the mesh axes over which the collective runs.
  std::vector<std::string> axes;
  int64_t ranksPerGroup = 1;
  /// Element type of the operand, such as "f32".
  std::string dtype;
  /// Kind of the reduction, such as "sum". Empty if the collective only moves
  /// elements.
  std::string reduction;
  /// Bytes of the collective's operand on one rank.
  int64_t localBytes = 0;
  /// Bytes that one rank receives in one call of the collective.
  int64_t receivedBytes = 0;
  /// Number of collectives in `ops`.
  int64_t count = 1;
  /// Whether the collectives in `ops` run once per step, rather than once per
  /// microbatch.
  bool isShared = false;
  /// Whether `receivedBytes` is only an upper bound, because the collective
  /// moves rows that are selected at run time (expert parallelism).
  bool isMost = false;
  /// Name of the ONNX node that needs the collective; may be empty.
  std::string node;
  /// Name of the tensor that the collective moves or reduces.
  std::string value;
  /// Collectives that have this description, in program order.
  std::vector<dist::CollectiveOp> ops;

  /// Returns whether all members of `other` are equal to those of this object,
  /// except for `count` and `ops`.
  bool isEqualButCount(const CollectiveFacts &other) const;
  /// Returns the number of calls in one step, in total for the collectives in
  /// `ops`.
  int64_t callsPerStep(const ModelFacts &facts) const {
    return isShared ? count : count * facts.microbatches;
  }
};

/// Returns the collectives of a stage, in program order. Equal collectives of
/// one named ONNX node share one entry. Leaves out collectives over a single
/// rank, which exchange nothing.
std::vector<CollectiveFacts> collectivesOf(const ModelFacts &facts, int stage);

/// Returns the estimated seconds of one call of `collective`, given the
/// bandwidths of `cluster`. At least two ranks must take part in the call.
double secondsOf(const ModelFacts &facts, dist::CollectiveOp collective,
                 const plan::Cluster &cluster);

/// Returns the JSON of `collective`, which runs in stage `stage`, for the list
/// `collectives` in bundle.json.
nlohmann::ordered_json toJson(const CollectiveFacts &collective, int64_t stage);
/// Returns the JSON of `transfer`, a value that one stage sends to another, for
/// the list `transfers` in bundle.json.
nlohmann::ordered_json toJson(const StageTransfer &transfer);

/// Returns the bytes that one rank of a position (virtual pipeline rank)
/// receives in one step. Counts collectives and messages from other positions.
int64_t receivedBytes(const ModelFacts &facts, int position);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H
