//===- Explanation.h - data of pcc explain, and its output ----------------===//

#ifndef PCC_PASSES_EXPLAIN_EXPLANATION_H
#define PCC_PASSES_EXPLAIN_EXPLANATION_H

#include "dialects/dist/Decision.h"
#include "passes/7-emit/bundle/CollectiveFacts.h"
#include "passes/explain/BlockGraph.h"
#include "passes/explain/FindLints.h"
#include "passes/explain/ValueExplanation.h"
#include "passes/plan/cluster/Cluster.h"
#include "status/StatusOr.h"

namespace pcc::explain {

/// One reason for a collective: an op that produces or reads the resharded
/// tensor, and the way in which the sharding search computes this op along a
/// mesh axis. Example: a matmul with "split dim 1 of 'w'" needs an all_gather
/// of its other operand. The pointers point into `ExplainedCollective::cause`.
struct EndpointDecision {
  /// Producer or reader of the tensor that the collective reshards. Instead of
  /// a reader, it can be the sharding that the user asked for, by --shard or by
  /// an annotation in the model. Not null in the result of
  /// ExplainedCollective::decisions().
  const dist::Endpoint *place = nullptr;
  /// Way in which the sharding search computes the op `place` along a mesh axis
  /// of the collective. Example: "split dim 1 of 'w'" for a matmul means that
  /// each rank along tp computes with its own part of w. Null if the search
  /// made no such decision. The reason is then a sharding that the user asked
  /// for. `place->pin` contains its text, such as "--shard 'y=[-,tp]'".
  const dist::Decision *decision = nullptr;
};

/// One collective of the compiled plan, with the reason why it exists and its
/// predicted time.
struct ExplainedCollective {
  /// Kind, mesh axes, received bytes and number of calls of the collective.
  emit::CollectiveFacts facts;
  /// Pipeline stage that executes the collective.
  int64_t stage = 0;
  /// Index of the ranks that run this stage, along the pipeline axis.
  int position = 0;
  /// Shape of the tensor that a collective moves or reduces, before the tensor
  /// is split over ranks (global shape).
  std::vector<int64_t> shape;
  /// Sharding of the tensor before the collective (`from`) and after the
  /// collective (`to`), as text. Example: "[tp, -]" means that the mesh axis tp
  /// splits dim 0 and that no axis splits dim 1. A split of the tensor into
  /// microbatches is not part of the text.
  std::string from, to;
  /// Predicted seconds of one execution of the collective, computed from the
  /// latencies and bandwidths of the cluster.
  double seconds = 0;
  /// Level of the network that the collective uses, such as "nvlink"; empty if
  /// the cluster does not name it.
  std::string link;
  /// Block of the model that the collective belongs to, such as "h.3"; empty if
  /// it belongs to none. See ModelBlocks.
  std::string block;
  /// Producer and consumers of the value whose sharding a collective changes;
  /// nullopt if the module does not record them.
  std::optional<dist::Cause> cause;

  /// Returns at most two reasons for this collective: the producer of the
  /// resharded tensor, and one reader of the tensor. A producer or reader is a
  /// reason if the search has chosen how to split it, or if the user has set
  /// its sharding. For a reduction, the producer comes first. Otherwise, the
  /// reader comes first. The result points into `cause`, and is empty if
  /// `cause` is nullopt.
  std::vector<EndpointDecision> decisions() const;
};

/// Number of calls, received bytes and predicted seconds of one rank in one
/// step, for one kind of collective over one set of mesh axes. Values from
/// other pipeline stages count as kind "transfer" over the axes "pp".
struct CommunicationTotal {
  /// Number of the pipeline position, from 0. A pipeline position is a group of
  /// ranks that run the same pipeline stages. This object contains the totals
  /// of one rank of the position.
  int position = 0;
  /// `axes`: names of the mesh axes over which the collectives run, joined by
  /// "+". Example: "dp+tp" means the two axes dp and tp. `kind`: kind of the
  /// collectives, such as "all_reduce".
  std::string axes, kind;
  /// Number of calls of one kind of collective that a rank makes in one step,
  /// over all microbatches.
  int64_t calls = 0;
  /// Bytes that a rank receives in one step from one kind of collective.
  int64_t receivedBytes = 0;
  /// Predicted seconds that a rank spends in one step on one kind of
  /// collective.
  double seconds = 0;
  /// Level of the network that the collectives use, such as "nvlink". If they
  /// use several levels, this is the level of the first collective or transfer.
  /// Empty if the description of the cluster has no name for the level.
  std::string link = {};
};

/// A boundary between two pipeline stages, and what crosses it in one step.
struct CutTraffic {
  int fromStage = 0, toStage = 0;
  /// Whether these are the messages of the optimizer step, such as parts of the
  /// norm of all gradients, and not those of the model.
  bool isOfUpdate = false;
  /// Name of the ONNX node at which the later stage begins. Empty for messages
  /// of the optimizer step; may be empty for others.
  std::string node = {};
  /// Bytes that a rank of the later stage receives from the earlier stage
  /// (`forwardBytes`, such as activations) and sends back to it
  /// (`backwardBytes`, such as gradients) in one step.
  int64_t forwardBytes = 0, backwardBytes = 0;
  /// Predicted seconds of these messages in one step: to a rank of the later
  /// stage (`forwardSeconds`), and to a rank of the earlier stage
  /// (`backwardSeconds`).
  double forwardSeconds = 0, backwardSeconds = 0;
  /// The best other node at which the later stage can begin, if the other
  /// stages begin where they do (`otherNode`), and the option for it, with its
  /// price (`other`). Absent if there is none, and for messages of the
  /// optimizer step.
  std::string otherNode = {};
  std::optional<Remedy> other = {};
  /// Why `other` is absent or has no price, or why the price is that of the
  /// plan; may be empty.
  std::string otherReason = {};

  /// Returns the predicted seconds of the direction that takes longer.
  double seconds() const { return std::max(forwardSeconds, backwardSeconds); }
};

/// All data that `pcc explain` shows about a module.
struct Explanation {
  /// File name of the model; empty if it is unknown.
  std::string model;
  /// Number of ranks of the whole program.
  int64_t world = 1;
  /// Name and size of each mesh axis with a size of more than 1. For example,
  /// the list is {{"pp", 2}, {"tp", 8}} if the program has 2 groups of 8 ranks,
  /// and the two groups run different pipeline stages. "pp" is the axis of the
  /// pipeline. The list does not contain the axis "mb", which divides a batch
  /// into microbatches.
  std::vector<std::pair<std::string, int64_t>> mesh;
  /// Target device ("cpu" or "cuda"), and name of the pipeline schedule, such
  /// as "1f1b".
  std::string target, schedule;
  /// Number of microbatches of one step.
  int64_t microbatches = 1;
  /// Collectives of the whole module. The collectives of pipeline stage 0 come
  /// first, then the collectives of stage 1, and so on. The collectives of one
  /// stage are in program order. If `facts.isShared` of a collective is true,
  /// the collective runs once per step. Otherwise, it runs once per microbatch.
  /// Example: an all-gather of a weight runs once per step if all microbatches
  /// use its result.
  std::vector<ExplainedCollective> collectives;
  /// Values that one stage sends to another.
  std::vector<emit::StageTransfer> transfers;
  /// Calls, bytes and seconds of all communication of one rank in one step. A
  /// pipeline position is a group of ranks that run the same pipeline stages.
  /// This list has one entry for each combination of a position, a set of mesh
  /// axes and a kind of communication. Example: an entry contains the sums over
  /// all calls of all_reduce over the axis tp that a rank of position 0 makes.
  /// The entries are sorted by position, then by axes, then by kind.
  std::vector<CommunicationTotal> totals;
  /// Bytes that one rank receives in one step, from collectives and from other
  /// pipeline positions. A pipeline position is a group of ranks that run the
  /// same pipeline stages. This list has one entry per position. Example:
  /// {1024, 2048} means that a rank of position 0 receives 1024 bytes, and that
  /// a rank of position 1 receives 2048 bytes.
  std::vector<int64_t> receivedBytesOfPosition;
  /// Boundaries between two stages that send values to each other, sorted by
  /// the numbers of the stages. Two stages of one pipeline position have no
  /// entry, because the same ranks run both stages and send no messages.
  std::vector<CutTraffic> cuts;
  /// Another division of the model into pipeline stages, for comparison, with
  /// its price: the one with the shortest step among all that were tried. It
  /// may be slower than the plan. Absent if there is no other division.
  std::optional<Remedy> otherCut;
  /// Price of one step; absent before the plan has passed 7-emit.
  std::optional<emit::PlanPrice> price;
  /// Lints of the module: warnings about suspicious shardings.
  std::vector<FoundLint> lints;
  /// Graphs of the blocks of the model, such as transformer layers. Blocks
  /// whose graphs differ only in names share one graph.
  std::vector<BlockGraph> blocks;
  /// Explanations of the values that the user has named on the command line;
  /// empty if the user names none.
  std::vector<ValueExplanation> values;
};

/// Builds the explanation of `module`, except Explanation::values. Phase
/// 6-schedule must be the last phase that `module` has passed. Predicts times
/// from the latencies and bandwidths of `cluster`. Returns an error if `module`
/// lacks an attribute that the explanation needs.
StatusOr<Explanation> explainModule(mlir::ModuleOp module,
                                    const plan::Cluster &cluster);

/// Returns the estimated time in seconds of `choice`, one way to compute an op.
/// If the compiler has recorded `choice.picoseconds`, the result is this time
/// of computation and communication. Otherwise, the result is the sum of the
/// times of the communications `choice.steps`, predicted from the latencies and
/// bandwidths of `cluster`. The sum omits steps with `isShared`, because the
/// program needs their communication for another operand anyway.
double secondsOf(const dist::Choice &choice, const plan::Cluster &cluster);

/// Options that limit the length of an explanation.
struct Detail {
  /// Whether the explanation has all entries, and also the ways to compute an
  /// op that the sharding search has rejected.
  bool isVerbose = false;
  /// Number of entries, such as collectives, if `isVerbose` is false. They are
  /// the entries with the highest cost.
  size_t top = 4;
};

/// Formats the plan as a tree: the cost of a step, and the collectives and
/// stage boundaries that cause it, from the most to the least expensive one.
/// Each lint has a line with an option that would mend it, and with the savings
/// and costs of this option. The stage boundaries have a line with an option
/// that would move them. `explanation.price` must be set.
std::string toTree(const Explanation &explanation, const Detail &detail);

/// Formats the explanation as text for the terminal. If `explanation.values` is
/// not empty, the text explains only these values. Otherwise, the text is the
/// tree of toTree(). If `detail.isVerbose` is true, the text also has all
/// collectives of the module, each with the ways to compute an op that the
/// sharding search has rejected.
std::string toText(const Explanation &explanation, const plan::Cluster &cluster,
                   const Detail &detail);
/// Formats the explanation as one JSON object on one line. README.md documents
/// the fields.
std::string toJson(const Explanation &explanation,
                   const plan::Cluster &cluster);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_EXPLANATION_H
