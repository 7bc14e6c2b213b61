//===- Explanation.h - data of pcc explain, and its output ----------------===//

#ifndef PCC_PASSES_EXPLAIN_EXPLANATION_H
#define PCC_PASSES_EXPLAIN_EXPLANATION_H

#include "dialects/dist/Decision.h"
#include "passes/7-emit/bundle/CollectiveFacts.h"
#include "passes/explain/FindLints.h"
#include "passes/explain/ValueExplanation.h"
#include "passes/plan/cluster/Cluster.h"

namespace pcc::explain {

/// A producer or consumer of a resharded value, with the decision about it
/// along one mesh axis. The pointers borrow from the cause of a collective.
struct EndpointDecision {
  /// The producer or consumer; not null in results of decisions().
  const dist::Endpoint *place = nullptr;
  /// The decision; null if none was recorded, as for a pin.
  const dist::Decision *decision = nullptr;
};

/// A collective of the plan: an entry of `collectives` as in `pcc inspect`,
/// with its reason and its price.
struct ExplainedCollective {
  /// Kind, axes, bytes and counts.
  emit::CollectiveFacts facts;
  /// Pipeline stage that executes the collective.
  int64_t stage = 0;
  /// Global shape of the tensor.
  std::vector<int64_t> shape;
  /// Shardings before and after the collective, as text without microbatches.
  std::string from, to;
  /// Modelled seconds of one execution.
  double seconds = 0;
  /// Producer and consumers of the value; nullopt if the dump does not record
  /// them.
  std::optional<dist::Cause> cause;

  /// Returns the decisions that led to the collective, the most informative one
  /// first. A reduction begins with the decision about the producer of the
  /// partial sum. Any other collective begins with the first consumer that has
  /// a decision or a pin. The pointers are valid as long as this object.
  std::vector<EndpointDecision> decisions() const;
};

/// Sum of all collectives of one kind over the same axes, in one step of a rank
/// of one position. Transfers from other positions have the axes "pp" and the
/// kind "transfer".
struct CommunicationTotal {
  /// Pipeline position.
  int position = 0;
  /// Names of the axes joined by '+', and the kind.
  std::string axes, kind;
  /// Calls in one step.
  int64_t calls = 0;
  /// Bytes that a rank receives in one step.
  int64_t receivedBytes = 0;
  /// Modelled seconds of all calls of one step.
  double seconds = 0;
};

/// All data that `pcc explain` shows about a module.
struct Explanation {
  /// File name of the model; empty if it is unknown.
  std::string model;
  /// Number of ranks of all positions.
  int64_t world = 1;
  /// Axes of more than one rank with their sizes, the pipeline included.
  std::vector<std::pair<std::string, int64_t>> mesh;
  /// Target device, and name of the pipeline schedule.
  std::string target, schedule;
  /// Number of microbatches of one step.
  int64_t microbatches = 1;
  /// Collectives in program order, stage by stage. Each runs once per
  /// microbatch, or once per step if it is shared.
  std::vector<ExplainedCollective> collectives;
  /// Values that stages send to each other.
  std::vector<emit::StageTransfer> transfers;
  /// Totals of communication, ordered by position, axes and kind.
  std::vector<CommunicationTotal> totals;
  /// Bytes that a rank of each position receives in one step, by collectives
  /// and transfers.
  std::vector<int64_t> receivedBytesOfPosition;
  /// Lints of the module.
  std::vector<FoundLint> lints;
  /// Explanations of the values that the user has named; empty if none were
  /// named.
  std::vector<ValueExplanation> values;
};

/// Builds the explanation of `module`, which has passed 6-schedule and no later
/// phase. Prices are those of `cluster`. `values` remains empty. If the module
/// lacks a fact that the explanation needs, returns nullopt and names the fact
/// in `error`.
std::optional<Explanation> explainModule(mlir::ModuleOp module,
                                         const plan::Cluster &cluster,
                                         std::string &error);

/// Returns the modelled seconds of a choice: the time that the search has
/// recorded (compute and communication), or else the communication alone,
/// priced by `cluster`.
double secondsOf(const dist::Choice &choice, const plan::Cluster &cluster);

/// Returns the explanation as prose for the terminal. If it has `values`, the
/// text shows only these.
std::string toText(const Explanation &explanation,
                   const plan::Cluster &cluster);
/// Returns the explanation as one JSON object on one line. README.md documents
/// the fields.
std::string toJson(const Explanation &explanation,
                   const plan::Cluster &cluster);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_EXPLANATION_H
