//===- CollectiveFacts.h - what a stage communicates ----------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H
#define PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H

#include "passes/7-emit/program/ModelFacts.h"
#include "passes/plan/cluster/Cluster.h"

#include <nlohmann/json_fwd.hpp>

namespace pcc::emit {

/// One entry of `collectives` in bundle.json.
struct CollectiveFacts {
  std::string kind;
  std::vector<std::string> axes;
  int64_t ranksPerGroup = 1;
  std::string dtype;
  std::string reduction; ///< empty: none
  int64_t localBytes = 0;
  int64_t receivedBytes = 0;
  int64_t count = 1;
  /// Runs once per step, not in every microbatch.
  bool isShared = false;
  /// What travels is known to the run only: `receivedBytes` is the most.
  bool isMost = false;
  std::string node;
  std::string value;
  /// The ops that make up the entry, `count` of them.
  std::vector<dist::CollectiveOp> ops;

  bool isEqualButCount(const CollectiveFacts &other) const;
  /// How often the entry runs in one step.
  int64_t callsPerStep(const ModelFacts &facts) const {
    return isShared ? count : count * facts.microbatches;
  }
};

/// All collectives of a stage that communicate, in program order; equal ones of
/// one node are merged.
std::vector<CollectiveFacts> collectivesOf(const ModelFacts &facts, int stage);

/// What one call of a collective that communicates takes.
double secondsOf(const ModelFacts &facts, dist::CollectiveOp collective,
                 const plan::Cluster &cluster);

/// The entry as JSON, as the interface has it.
nlohmann::ordered_json toJson(const CollectiveFacts &collective, int64_t stage);
nlohmann::ordered_json toJson(const StageTransfer &transfer);

/// Bytes that a rank of `position` receives in one step: by collectives and
/// from other positions.
int64_t receivedBytes(const ModelFacts &facts, int position);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H
