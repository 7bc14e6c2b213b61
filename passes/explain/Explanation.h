//===- Explanation.h - data of pcc explain, and its output ----------------===//

#ifndef PCC_PASSES_EXPLAIN_EXPLANATION_H
#define PCC_PASSES_EXPLAIN_EXPLANATION_H

#include "dialects/dist/Decision.h"
#include "passes/7-emit/bundle/CollectiveFacts.h"
#include "passes/explain/FindLints.h"
#include "passes/explain/ValueExplanation.h"
#include "passes/plan/cluster/Cluster.h"
#include "status/StatusOr.h"

namespace pcc::explain {

/// A producer or consumer of a resharded value, and the decision that was made
/// about this producer or consumer along one mesh axis. Both pointers point
/// into `ExplainedCollective::cause`.
struct EndpointDecision {
  /// The producer or consumer; not null in results of decisions().
  const dist::Endpoint *place = nullptr;
  /// The decision; null if none was recorded, for example because the user has
  /// pinned the sharding.
  const dist::Decision *decision = nullptr;
};

/// One collective of the compiled plan, with its reason and its price. `pcc
/// inspect` lists the same collectives in the field `collectives`.
struct ExplainedCollective {
  /// Kind, axes, received bytes and number of calls.
  emit::CollectiveFacts facts;
  /// Pipeline stage that executes the collective.
  int64_t stage = 0;
  /// Global shape of the tensor.
  std::vector<int64_t> shape;
  /// Shardings before and after the collective as text, without the time axis
  /// of microbatches.
  std::string from, to;
  /// Predicted seconds of one execution, by the cluster's profile.
  double seconds = 0;
  /// Producer and consumers of the value; nullopt if the module does not record
  /// them.
  std::optional<dist::Cause> cause;

  /// Returns the decisions because of which the collective exists, the most
  /// informative one first. For a reduction, the first one is the decision
  /// about the producer of the partial sum. For any other collective, the first
  /// one is the decision about a consumer: the first consumer for which a
  /// decision or a pin (sharding fixed by the user) is recorded. The list is
  /// empty if nothing is recorded. The pointers are valid as long as this
  /// object.
  std::vector<EndpointDecision> decisions() const;
};

/// Total of the communication of one rank in one step, for one kind of
/// collective over one set of mesh axes. All ranks of a pipeline position (the
/// stages that one rank runs) have equal totals. Transfers that a rank receives
/// from other positions have the axes "pp" and the kind "transfer".
struct CommunicationTotal {
  /// Index of the pipeline position.
  int position = 0;
  /// Names of the mesh axes, joined by '+', and kind of collective.
  std::string axes, kind;
  /// Calls in one step.
  int64_t calls = 0;
  /// Bytes that a rank receives in one step.
  int64_t receivedBytes = 0;
  /// Predicted seconds of all calls in one step.
  double seconds = 0;
};

/// All data that `pcc explain` shows about a module.
struct Explanation {
  /// File name of the model; empty if it is unknown.
  std::string model;
  /// Number of ranks of the whole program.
  int64_t world = 1;
  /// Names and sizes of the mesh axes of more than one rank, the pipeline axis
  /// included.
  std::vector<std::pair<std::string, int64_t>> mesh;
  /// Target device, and name of the pipeline schedule.
  std::string target, schedule;
  /// Number of microbatches of one step.
  int64_t microbatches = 1;
  /// Collectives in program order, stage by stage. Each runs once per
  /// microbatch, or once per step if all microbatches share it.
  std::vector<ExplainedCollective> collectives;
  /// Values that one stage sends to another.
  std::vector<emit::StageTransfer> transfers;
  /// Totals of collectives and transfers, ordered by pipeline position, axes
  /// and kind.
  std::vector<CommunicationTotal> totals;
  /// For each pipeline position, the bytes that one of its ranks receives in
  /// one step, by collectives and transfers.
  std::vector<int64_t> receivedBytesOfPosition;
  /// Lints of the module: warnings about suspicious shardings.
  std::vector<FoundLint> lints;
  /// Explanations of the values that the user asks about; empty if the user
  /// names none.
  std::vector<ValueExplanation> values;
};

/// Builds the explanation of `module`, which must have passed phase 6-schedule
/// and no later phase. `cluster` prices the communication. `values` stays
/// empty. If the module lacks something that the explanation needs, returns an
/// error that names it.
StatusOr<Explanation> explainModule(mlir::ModuleOp module,
                                    const plan::Cluster &cluster);

/// Returns the predicted seconds of a choice: the time of computation and
/// communication that the search has recorded. If it recorded none, returns the
/// time of the communication alone, by `cluster`.
double secondsOf(const dist::Choice &choice, const plan::Cluster &cluster);

/// Formats the explanation as text for the terminal. If it has `values`, the
/// text is about these only.
std::string toText(const Explanation &explanation,
                   const plan::Cluster &cluster);
/// Formats the explanation as one JSON object on one line. README.md documents
/// the fields.
std::string toJson(const Explanation &explanation,
                   const plan::Cluster &cluster);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_EXPLANATION_H
