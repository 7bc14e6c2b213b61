//===- CollectiveFacts.h - bytes and seconds of collectives ---------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H
#define PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H

#include "passes/7-emit/program/ModelFacts.h"
#include "passes/plan/cluster/Cluster.h"

#include <nlohmann/json_fwd.hpp>

namespace pcc::emit {

/// Equal collectives of one node, as an entry of `collectives` in bundle.json.
struct CollectiveFacts {
  /// Kind, such as "all_reduce".
  std::string kind;
  /// Names of the mesh axes along which the ranks of a group differ.
  std::vector<std::string> axes;
  int64_t ranksPerGroup = 1;
  /// Element type of the operand.
  std::string dtype;
  /// Kind of the reduction, such as "sum"; empty if elements only move.
  std::string reduction;
  /// Bytes of the operand on one rank.
  int64_t localBytes = 0;
  /// Bytes that one rank receives in one call.
  int64_t receivedBytes = 0;
  /// Number of equal collectives: the size of `ops`.
  int64_t count = 1;
  /// Whether the entry runs once per step instead of once per microbatch.
  bool isShared = false;
  /// Whether `receivedBytes` is an upper bound, because only the run knows
  /// which rows travel.
  bool isMost = false;
  /// Node that needs the collective; empty if it has no name.
  std::string node;
  /// Name of the value that is moved or reduced.
  std::string value;
  /// Ops of the entry, in program order.
  std::vector<dist::CollectiveOp> ops;

  /// Returns whether all members except `count` and `ops` are equal.
  bool isEqualButCount(const CollectiveFacts &other) const;
  /// Returns the number of calls of the entry in one step.
  int64_t callsPerStep(const ModelFacts &facts) const {
    return isShared ? count : count * facts.microbatches;
  }
};

/// Returns all collectives of a stage that communicate, in program order. Equal
/// collectives of one named node are one entry.
std::vector<CollectiveFacts> collectivesOf(const ModelFacts &facts, int stage);

/// Returns the seconds of one call of `collective`, which must communicate, by
/// the prices of `cluster`.
double secondsOf(const ModelFacts &facts, dist::CollectiveOp collective,
                 const plan::Cluster &cluster);

/// Returns an entry of `collectives` in bundle.json.
nlohmann::ordered_json toJson(const CollectiveFacts &collective, int64_t stage);
/// Returns an entry of `transfers` in bundle.json.
nlohmann::ordered_json toJson(const StageTransfer &transfer);

/// Returns the bytes that a rank of `position` receives in one step, by
/// collectives and from other positions.
int64_t receivedBytes(const ModelFacts &facts, int position);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H
