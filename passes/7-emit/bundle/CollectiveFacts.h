//===- CollectiveFacts.h - bytes and seconds of collectives ---------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H
#define PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H

#include "passes/7-emit/program/ModelFacts.h"
#include "passes/plan/cluster/Cluster.h"

#include <nlohmann/json_fwd.hpp>

namespace pcc::emit {

/// Entry of the list `collectives` in bundle.json. An entry describes one
/// collective, such as an all-reduce over the mesh axis tp. An entry describes
/// several collectives if one ONNX node needs all of them and their properties
/// are equal. The properties are the fields of this struct, except for `count`
/// and `ops`.
struct CollectiveFacts {
  /// Kind of the collective, such as "all_reduce".
  std::string kind;
  /// Names of the mesh axes over which the collective runs.
  std::vector<std::string> axes;
  int64_t ranksPerGroup = 1;
  /// Element type of the tensor that the collective reads, such as "f32".
  std::string dtype;
  /// Kind of the reduction, such as "sum". Empty if the collective only moves
  /// elements.
  std::string reduction;
  /// Bytes of the collective's operand on one rank.
  int64_t localBytes = 0;
  /// Bytes that one rank receives in one call of the collective.
  int64_t receivedBytes = 0;
  /// Number of collectives that this struct describes. Example: 2 if one ONNX
  /// node needs two all-reduces with equal properties.
  int64_t count = 1;
  /// Whether each collective that this struct describes runs once per step. If
  /// false, each collective runs once per microbatch. A step processes several
  /// microbatches. An all_gather of a weight is an example of a collective that
  /// can run once per step. All microbatches of the step then share the
  /// gathered weight.
  bool isShared = false;
  /// Whether `receivedBytes` is only an upper bound. The field is true if the
  /// ranks choose at run time which rows of a tensor they send. A row can be
  /// the vector of one token. In a mixture-of-experts model, for example, a
  /// rank sends a token only to the ranks with the experts of this token. The
  /// compiler does not know how many tokens a rank will receive.
  bool isMost = false;
  /// Name of the ONNX node that needs the collective; may be empty.
  std::string node;
  /// Name of the tensor that the collective moves or reduces.
  std::string value;
  /// List of the collectives that this struct describes, in program order. The
  /// list has several elements if one ONNX node needs several collectives with
  /// equal properties, such as kind, mesh axes and number of bytes.
  std::vector<dist::CollectiveOp> ops;

  /// Returns whether each field of `other` is equal to the field of this object
  /// with the same name. Does not compare the fields `count` and `ops`.
  bool isEqualButCount(const CollectiveFacts &other) const;
  /// Returns the number of calls that all collectives in `ops` together make in
  /// one step.
  int64_t callsPerStep(const ModelFacts &facts) const {
    return isShared ? count : count * facts.microbatches;
  }
};

/// Returns the collectives of pipeline stage `stage`, in program order. One
/// element describes all collectives of an ONNX node with equal properties.
/// Leaves out collectives without communication, such as the slice of a
/// replicated value.
std::vector<CollectiveFacts> collectivesOf(const ModelFacts &facts, int stage);

/// Returns the estimated seconds of one call of `collective`, given the
/// bandwidths of `cluster`. At least two ranks must take part in the call.
double secondsOf(const ModelFacts &facts, dist::CollectiveOp collective,
                 const plan::Cluster &cluster);

/// Returns the level of the network, such as "nvlink", over which the ranks of
/// `collective` communicate; empty if the cluster does not name it.
std::string linkOf(const ModelFacts &facts, dist::CollectiveOp collective,
                   const plan::Cluster &cluster);

/// Returns the JSON of `collective`, which runs in stage `stage`, for the list
/// `collectives` in bundle.json.
nlohmann::ordered_json toJson(const CollectiveFacts &collective, int64_t stage);
/// Returns the JSON of `transfer`, a value that one stage sends to another, for
/// the list `transfers` in bundle.json.
nlohmann::ordered_json toJson(const StageTransfer &transfer);

/// Returns the number of bytes that each rank with index `position` along the
/// pipeline axis of the mesh receives in one step. Counts the data of
/// collectives, and the messages from ranks with another index.
int64_t receivedBytes(const ModelFacts &facts, int position);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_COLLECTIVEFACTS_H
