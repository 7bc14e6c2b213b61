//===- CollectiveFacts.h - bytes and seconds of collectives ---------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H
#define PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H

#include "passes/7-emit/program/ModelFacts.h"
#include "passes/plan/cluster/Cluster.h"

#include <nlohmann/json_fwd.hpp>

namespace pcc::emit {

/// Description of one collective, or of several equal collectives that one ONNX
/// node of the model needs: an entry of `collectives` in bundle.json.
struct CollectiveFacts {
  /// Kind of the collective, such as "all_reduce".
  std::string kind;
  /// Names of the mesh axes over which the collective runs: ranks of one group
  /// differ in their coordinates along these axes.
  std::vector<std::string> axes;
  int64_t ranksPerGroup = 1;
  /// Element type of the operand, such as "f32".
  std::string dtype;
  /// Kind of the reduction, such as "sum". Empty if the collective only moves
  /// elements.
  std::string reduction;
  /// Bytes of the collective's operand on one rank.
  int64_t localBytes = 0;
  /// Bytes that one rank receives in one call of one of the collectives.
  int64_t receivedBytes = 0;
  /// Number of equal collectives that this entry stands for: the size of `ops`.
  int64_t count = 1;
  /// True if the collectives run once per step, false if once per microbatch.
  bool isShared = false;
  /// Whether `receivedBytes` is an upper bound. True if the collective moves
  /// rows that are selected at run time, as in expert parallelism.
  bool isMost = false;
  /// Name of the ONNX node that needs the collective; empty if the node has no
  /// name.
  std::string node;
  /// Name of the tensor that the collective moves or reduces.
  std::string value;
  /// The equal collectives, in program order.
  std::vector<dist::CollectiveOp> ops;

  /// Returns whether all members except `count` and `ops` are equal.
  bool isEqualButCount(const CollectiveFacts &other) const;
  /// Returns how often the collectives of this entry run in one step, all
  /// together.
  int64_t callsPerStep(const ModelFacts &facts) const {
    return isShared ? count : count * facts.microbatches;
  }
};

/// Returns the collectives of a stage, in program order. Leaves out those that
/// exchange nothing, since their groups have one rank. Equal collectives of one
/// named ONNX node are one entry.
std::vector<CollectiveFacts> collectivesOf(const ModelFacts &facts, int stage);

/// Returns the estimated seconds of one call of `collective` by the bandwidths
/// of `cluster`. The groups of `collective` must have several ranks.
double secondsOf(const ModelFacts &facts, dist::CollectiveOp collective,
                 const plan::Cluster &cluster);

/// Returns `collective`, a collective of stage `stage`, in the form of an entry
/// of `collectives` in bundle.json.
nlohmann::ordered_json toJson(const CollectiveFacts &collective, int64_t stage);
/// Returns `transfer`, a value that one stage sends to another, in the form of
/// an entry of `transfers` in bundle.json.
nlohmann::ordered_json toJson(const StageTransfer &transfer);

/// Returns the bytes that one rank of `position` (virtual pipeline rank)
/// receives in one step: from collectives, and in messages from other
/// positions.
int64_t receivedBytes(const ModelFacts &facts, int position);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H
