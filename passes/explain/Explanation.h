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

/// A producer or consumer of a value that a collective reshards, and how the
/// sharding search decided to compute this op along one mesh axis. Both
/// pointers point into `ExplainedCollective::cause`.
struct EndpointDecision {
  /// The producer or a consumer of a value that a collective reshards.
  /// ExplainedCollective::decisions() never returns null here.
  const dist::Endpoint *place = nullptr;
  /// Decision of the sharding search about the op `place` along one mesh axis,
  /// such as "split dim 1 of 'w'". Null if there is none, for example because
  /// the user has fixed (pinned) the sharding.
  const dist::Decision *decision = nullptr;
};

/// One collective of the compiled plan, with the reason why it exists and its
/// predicted time.
struct ExplainedCollective {
  /// Kind, mesh axes, received bytes and number of calls of the collective.
  emit::CollectiveFacts facts;
  /// Pipeline stage that executes the collective.
  int64_t stage = 0;
  /// Shape of the tensor that a collective moves or reduces, before the tensor
  /// is split over ranks (global shape).
  std::vector<int64_t> shape;
  /// Shardings of the tensor before and after a collective, as text such as
  /// "[tp,-]". The mesh axis `mb`, which counts microbatches, is left out.
  std::string from, to;
  /// Predicted seconds of one execution of the collective, computed from the
  /// latencies and bandwidths of the cluster.
  double seconds = 0;
  /// Producer and consumers of the value whose sharding a collective changes;
  /// nullopt if the module does not record them.
  std::optional<dist::Cause> cause;

  /// Returns at most two decisions of the sharding search that explain this
  /// collective: one about the producer of its operand, and one about a
  /// consumer of its result. The consumer is the first one with a decision or a
  /// pin (sharding requested by the user). For a reduction, the decision about
  /// the producer comes first; for any other collective, it comes last. A
  /// producer without a decision or a pin is left out. The result holds
  /// pointers into this object.
  std::vector<EndpointDecision> decisions() const;
};

/// Communication of one rank in one step, by one kind of collective over one
/// set of mesh axes. All ranks of a pipeline position (the stages that one rank
/// runs) have equal totals. Transfers between positions have the axes "pp" and
/// the kind "transfer".
struct CommunicationTotal {
  /// Index of a pipeline position (the stages that one rank runs).
  int position = 0;
  /// `axes`: names of the mesh axes, such as "dp+tp". `kind`: kind of the
  /// collective, such as "all_reduce".
  std::string axes, kind;
  /// Number of calls of one kind of collective that a rank makes in one step,
  /// over all microbatches.
  int64_t calls = 0;
  /// Bytes that a rank receives in one step from one kind of collective.
  int64_t receivedBytes = 0;
  /// Predicted seconds that a rank spends in one step on one kind of
  /// collective.
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
  /// Calls, bytes and seconds of all communication in one step. There is one
  /// entry per pipeline position (the stages that one rank runs), set of mesh
  /// axes and kind of collective, ordered by these three.
  std::vector<CommunicationTotal> totals;
  /// For each pipeline position (the stages that one rank runs), the bytes that
  /// one of its ranks receives in one step, from collectives and other stages.
  std::vector<int64_t> receivedBytesOfPosition;
  /// Lints of the module: warnings about suspicious shardings.
  std::vector<FoundLint> lints;
  /// Explanations of the values that the user has named on the command line;
  /// empty if the user names none.
  std::vector<ValueExplanation> values;
};

/// Builds the explanation of `module`, which must have passed phase 6-schedule
/// and no later phase. `cluster` gives latencies and bandwidths.
/// `Explanation::values` stays empty. Returns an error if `module` lacks an
/// attribute that the explanation needs.
StatusOr<Explanation> explainModule(mlir::ModuleOp module,
                                    const plan::Cluster &cluster);

/// Returns the predicted seconds of `choice`, one way to compute an op that the
/// sharding search considered. If `choice` has no recorded time, computes the
/// time of its communication from the bandwidths in `cluster`.
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
