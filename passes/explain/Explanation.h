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

/// A producer or consumer of a resharded value, with the decision recorded for
/// it along one mesh axis. A decision is the choice of a split that the
/// sharding search made. `place` and `decision` point into
/// `ExplainedCollective::cause`.
struct EndpointDecision {
  /// The producer or consumer of the resharded value. Never null in the result
  /// of ExplainedCollective::decisions().
  const dist::Endpoint *place = nullptr;
  /// Decision of the sharding search about the producer or consumer. Null if
  /// none was recorded, for example because the user has pinned the sharding.
  const dist::Decision *decision = nullptr;
};

/// One collective of the compiled plan, with the reason why it exists and its
/// predicted time. `pcc inspect` lists the same collectives in the field
/// `collectives` of its output.
struct ExplainedCollective {
  /// Kind, mesh axes, received bytes and number of calls of the collective.
  emit::CollectiveFacts facts;
  /// Pipeline stage that executes the collective.
  int64_t stage = 0;
  /// Global shape of the resharded tensor: the shape before it is split over
  /// ranks.
  std::vector<int64_t> shape;
  /// Shardings before and after the collective, as text. The time axis (the
  /// microbatches) is left out.
  std::string from, to;
  /// Predicted seconds of one execution of the collective, computed from the
  /// latencies and bandwidths of the cluster.
  double seconds = 0;
  /// Producer and consumers of the value that the collective reshards; nullopt
  /// if the module does not record them.
  std::optional<dist::Cause> cause;

  /// Returns the decisions of the sharding search that caused the collective,
  /// the most informative one first. At most two ops have an entry:
  ///  - the first consumer that has a decision or a pin (sharding fixed by the
  ///    user);
  ///  - the producer, if it has a decision or a pin.
  /// For a reduction, the producer comes first, because it makes the partial
  /// sum. For any other collective, the consumer comes first. The pointers are
  /// valid as long as this object.
  std::vector<EndpointDecision> decisions() const;
};

/// Total of the communication of one rank in one step, for one kind of
/// collective over one set of mesh axes. All ranks of a pipeline position (the
/// stages that one rank runs) have equal totals. Data received from another
/// pipeline position are listed with the axes "pp" and the kind "transfer".
struct CommunicationTotal {
  /// Index of the pipeline position.
  int position = 0;
  /// `axes`: names of the mesh axes, joined by '+', such as "dp+tp". `kind`:
  /// kind of the collective, such as "all_reduce".
  std::string axes, kind;
  /// Number of calls in one step, over all microbatches.
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
  /// Name and size of each mesh axis that has more than one rank, the pipeline
  /// axis included.
  std::vector<std::pair<std::string, int64_t>> mesh;
  /// Target device ("cpu" or "cuda"), and name of the pipeline schedule, such
  /// as "1f1b".
  std::string target, schedule;
  /// Number of microbatches of one step.
  int64_t microbatches = 1;
  /// Collectives in program order, stage by stage. A collective runs once per
  /// step if `facts.isShared` is true, otherwise once per microbatch.
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
  /// Explanations of the values that the user has named on the command line;
  /// empty if the user names none.
  std::vector<ValueExplanation> values;
};

/// Builds the explanation of `module`, which must have passed phase 6-schedule
/// and no later phase. The communication is priced with the latencies and
/// bandwidths of `cluster`. `Explanation::values` stays empty. If the module
/// lacks an attribute that the explanation needs, returns an error that names
/// the attribute.
StatusOr<Explanation> explainModule(mlir::ModuleOp module,
                                    const plan::Cluster &cluster);

/// Returns the predicted seconds of `choice`, one alternative of a sharding
/// decision: the time of computation and communication that the search has
/// recorded. If the search recorded no time, returns the time of the
/// communication alone, computed from `cluster`.
double secondsOf(const dist::Choice &choice, const plan::Cluster &cluster);

/// Formats the explanation as text for the terminal. If `explanation.values` is
/// not empty, the text explains only these values. Otherwise it explains the
/// collectives of the whole module.
std::string toText(const Explanation &explanation,
                   const plan::Cluster &cluster);
/// Formats the explanation as one JSON object on one line. README.md documents
/// the fields.
std::string toJson(const Explanation &explanation,
                   const plan::Cluster &cluster);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_EXPLANATION_H
