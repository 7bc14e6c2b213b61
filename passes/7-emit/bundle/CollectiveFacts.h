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
  /// Names of the mesh axes over which the collective runs. Ranks of one group
  /// differ only in their coordinates along these axes.
  std::vector<std::string> axes;
  int64_t ranksPerGroup = 1;
  /// Element type of the operand, such as "f32".
  std::string dtype;
  /// Kind of the reduction, such as "sum". Empty if the collective only moves
  /// elements.
  std::string reduction;
  /// Bytes of the collective's operand on one rank.
  int64_t localBytes = 0;
  /// Bytes that one rank receives in one call of one collective. `callsPerStep`
  /// counts the calls.
  int64_t receivedBytes = 0;
  /// Number of equal collectives that this entry of bundle.json describes: the
  /// size of `ops`.
  int64_t count = 1;
  /// True if the collectives run once per step, false if once per microbatch.
  bool isShared = false;
  /// True if `receivedBytes` is an upper bound, because the collective moves
  /// rows that are selected at run time, as in expert parallelism. False if
  /// `receivedBytes` is exact.
  bool isMost = false;
  /// Name of the ONNX node that needs the collective; empty if the node has no
  /// name.
  std::string node;
  /// Name of the tensor that the collective moves (as an all-gather does) or
  /// reduces.
  std::string value;
  /// The equal collectives that this entry describes, in program order.
  std::vector<dist::CollectiveOp> ops;

  /// Returns whether all members except `count` and `ops` are equal to those of
  /// `other`.
  bool isEqualButCount(const CollectiveFacts &other) const;
  /// Returns the total number of calls, in one step, of the collectives that
  /// this entry describes.
  int64_t callsPerStep(const ModelFacts &facts) const {
    return isShared ? count : count * facts.microbatches;
  }
};

/// Returns the collectives of a stage, in program order. Leaves out collectives
/// whose groups have one rank, since they exchange nothing. Equal collectives
/// that one named ONNX node needs share one entry.
std::vector<CollectiveFacts> collectivesOf(const ModelFacts &facts, int stage);

/// Returns the estimated seconds of one call of `collective`, given the
/// bandwidths of `cluster`. The groups of `collective` must have at least two
/// ranks.
double secondsOf(const ModelFacts &facts, dist::CollectiveOp collective,
                 const plan::Cluster &cluster);

/// Returns the JSON of `collective`, which runs in stage `stage`, for the list
/// `collectives` in bundle.json.
nlohmann::ordered_json toJson(const CollectiveFacts &collective, int64_t stage);
/// Returns the JSON of `transfer`, a value that one stage sends to another, for
/// the list `transfers` in bundle.json.
nlohmann::ordered_json toJson(const StageTransfer &transfer);

/// Returns the bytes that one rank of `position` (virtual pipeline rank)
/// receives in one step. Counts collectives and messages from other positions.
int64_t receivedBytes(const ModelFacts &facts, int position);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H
