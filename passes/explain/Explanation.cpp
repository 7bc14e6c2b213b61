//===- Explanation.cpp - causes and prices of all communication -----------===//

#include "passes/explain/Explanation.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "sharding/ShardingText.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace pcc;
using namespace pcc::explain;

/// Returns a decision of the sharding search about the op `place`. A decision
/// is the way in which the search has chosen to compute an op along one mesh
/// axis, such as "split dim 1 of 'w'" along the axis `tp`. Returns the first
/// entry of `place.decisions` that belongs to a mesh axis in `axes`. Returns
/// null if there is no such entry.
static const dist::Decision *decisionAlong(const dist::Endpoint &place,
                                           ArrayRef<std::string> axes) {
  for (const dist::Decision &decision : place.decisions)
    if (llvm::is_contained(axes, decision.axis))
      return &decision;
  return nullptr;
}

std::vector<EndpointDecision> ExplainedCollective::decisions() const {
  std::vector<EndpointDecision> found;
  if (!cause)
    return found;
  auto add = [&](const dist::Endpoint &place) {
    const dist::Decision *decision = decisionAlong(place, facts.axes);
    const bool isTold = llvm::any_of(found, [&](const EndpointDecision &at) {
      return decision && at.decision && *at.decision == *decision;
    });
    const bool tells = !isTold && (decision || !place.pin.empty());
    if (tells)
      found.push_back({&place, decision});
    return tells;
  };
  const bool isReduction = !facts.reduction.empty();
  if (isReduction)
    add(cause->by);
  for (const dist::Endpoint &use : cause->uses)
    if (add(use))
      break;
  if (!isReduction)
    add(cause->by);
  return found;
}

double explain::secondsOf(const dist::Choice &choice,
                          const plan::Cluster &cluster) {
  if (choice.picoseconds > 0)
    return static_cast<double>(choice.picoseconds) * 1e-12;
  double seconds = 0;
  for (const dist::PricedStep &step : choice.steps)
    if (!step.isShared)
      seconds += cluster.commSeconds(step.kind,
                                     plan::RankGroup(step.stride, step.ranks),
                                     static_cast<double>(step.receivedBytes));
  return seconds;
}

namespace {
/// Builds an Explanation, the data that `pcc explain` shows about a module.
class Explainer {
public:
  Explainer(const emit::ModelFacts &facts, const plan::Cluster &cluster)
      : facts(facts), cluster(cluster), blocks(facts) {}

  /// Collects all data of the explanation, except the explanations of single
  /// values.
  Explanation run() {
    readHead();
    for (int stage = 0; stage < facts.numStages(); ++stage)
      for (const auto &entry : emit::collectivesOf(facts, stage))
        add(entry, stage);
    for (const emit::StageTransfer &transfer : facts.transfers)
      count(transfer);
    for (auto &[stages, cut] : cuts)
      explanation.cuts.push_back(std::move(cut));
    llvm::sort(explanation.totals,
               [](const CommunicationTotal &a, const CommunicationTotal &b) {
                 return std::tie(a.position, a.axes, a.kind) <
                        std::tie(b.position, b.axes, b.kind);
               });
    for (int position = 0; position < facts.numPositions(); ++position)
      explanation.receivedBytesOfPosition.push_back(
          emit::receivedBytes(facts, position));
    explanation.transfers = facts.transfers;
    explanation.blocks = graphsOf(facts, blocks);
    explanation.lints = findLints(facts.module);
    return std::move(explanation);
  }

private:
  /// Sets the fields of the explanation that describe the whole model: name,
  /// mesh, target, schedule and number of microbatches.
  void readHead() {
    auto model =
        ModuleOp(facts.module)->getAttrOfType<StringAttr>(graph::modelName);
    explanation.model = model ? model.str() : "";
    explanation.world = runtime::numRanks(facts.mesh.ranks());
    for (const auto &[name, size] : facts.mesh.ranks().spatial().axes)
      if (size > 1)
        explanation.mesh.push_back({name, size});
    explanation.target = dist::targetOf(facts.module).str();
    explanation.schedule = facts.schedule;
    explanation.microbatches = facts.microbatches;
  }

  /// Adds `entry` to `explanation.collectives` and to the totals. `entry`
  /// describes equal collectives of one ONNX node in the pipeline stage
  /// `stage`. The shape, the shardings, the time and the cause are those of the
  /// first collective.
  void add(const emit::CollectiveFacts &entry, int stage) {
    dist::CollectiveOp op = entry.ops.front();
    ExplainedCollective made{entry,
                             stage,
                             facts.positionOfStage[stage],
                             op.getShape().vec(),
                             text(op.getFrom()),
                             text(op.getTo()),
                             emit::secondsOf(facts, entry.ops.front(), cluster),
                             emit::linkOf(facts, entry.ops.front(), cluster),
                             blocks.blockOf(entry.node).str(),
                             dist::causeOf(op.getLoc())};
    count(made);
    made.facts.ops.clear();
    explanation.collectives.push_back(std::move(made));
  }

  /// Formats a sharding as text, such as "[tp, -]". This text means that the
  /// mesh axis tp splits dim 0 of a tensor, and that no axis splits dim 1. The
  /// compiler also uses a mesh axis with the name `mb`. The axis `mb` splits a
  /// tensor into microbatches, and not over ranks. The text does not contain
  /// the axis `mb`.
  std::string text(dist::ShardingAttr sharding) const {
    return dist::toBriefString(dist::withoutTime(sharding.getSharding()),
                               facts.mesh.shardingMesh());
  }

  /// Adds the calls, bytes and seconds of the collective `made` in one step to
  /// the totals of the ranks that run its pipeline stage.
  void count(const ExplainedCollective &made) {
    count({facts.positionOfStage[made.stage], llvm::join(made.facts.axes, "+"),
           made.facts.kind, made.facts.callsPerStep(facts),
           made.facts.receivedBytes, made.seconds, made.link});
  }

  /// Adds the communication of `transfer`, a value that one pipeline stage
  /// sends to another, to the totals of the receiving position. A position is a
  /// group of ranks that run the same stages. Adds nothing if one position runs
  /// both stages. The predicted time depends on the difference between the rank
  /// numbers: with 4 ranks per position, rank 1 of position 0 sends to rank 5
  /// of position 1, and the difference is 4.
  void count(const emit::StageTransfer &transfer) {
    const int from = facts.positionOfStage[transfer.fromStage];
    const int to = facts.positionOfStage[transfer.toStage];
    const int64_t bytes = emit::bytesOf(transfer.type);
    if (from == to)
      return;
    const plan::RankGroup pair(
        std::abs(to - from) * (explanation.world / facts.numPositions()), 2);
    const int64_t calls = transfer.callsPerStep(facts.microbatches);
    const double seconds =
        cluster.commSeconds("transfer", pair, static_cast<double>(bytes));
    count({to, "pp", "transfer", calls, bytes, seconds,
           cluster.linkFor(pair).level});
    addToCut(transfer, bytes * calls, seconds * static_cast<double>(calls));
  }

  /// Adds the bytes and seconds of `transfer` in one step to the cut (boundary)
  /// between its two stages. Values that go back to the earlier stage, such as
  /// gradients, belong to the same cut.
  void addToCut(const emit::StageTransfer &transfer, int64_t bytes,
                double seconds) {
    const auto [early, late] =
        std::minmax(transfer.fromStage, transfer.toStage);
    CutTraffic &cut = cuts[{early, late, transfer.isPerStep()}];
    cut.fromStage = early;
    cut.toStage = late;
    cut.isOfUpdate = transfer.isPerStep();
    cut.node = cut.isOfUpdate ? "" : beginOf(late).str();
    const bool isForward = transfer.toStage == late;
    (isForward ? cut.forwardBytes : cut.backwardBytes) += bytes;
    (isForward ? cut.forwardSeconds : cut.backwardSeconds) += seconds;
  }

  /// Returns the ONNX node of the first op of the stage `stage` that reads a
  /// value of another stage.
  StringRef beginOf(int stage) const {
    for (func::FuncOp function : facts.functions[stage])
      if (pipe::actionOf(function) == "F")
        for (Operation &op : function.front())
          for (Value operand : op.getOperands())
            if (operand.getDefiningOp<pipe::ReceiveOp>() &&
                !isa<dist::CollectiveOp>(op))
              return graph::nodeName(op.getLoc());
    return "";
  }

  /// Adds `each` to the entry of `explanation.totals` with the same pipeline
  /// rank, mesh axes and kind. Creates this entry if there is none. `each` has
  /// the bytes and seconds of one call, and the number of calls in one step.
  void count(const CommunicationTotal &each) {
    auto total =
        llvm::find_if(explanation.totals, [&](const CommunicationTotal &other) {
          return other.position == each.position && other.axes == each.axes &&
                 other.kind == each.kind;
        });
    if (total == explanation.totals.end())
      total =
          explanation.totals.insert(total, {each.position, each.axes, each.kind,
                                            /*calls=*/0, /*receivedBytes=*/0,
                                            /*seconds=*/0, each.link});
    total->calls += each.calls;
    total->receivedBytes += each.receivedBytes * each.calls;
    total->seconds += each.seconds * static_cast<double>(each.calls);
  }

  const emit::ModelFacts &facts;
  const plan::Cluster &cluster;
  const ModelBlocks blocks;
  /// Map from a pair of stages, such as {0, 1}, to the boundary between them.
  /// The earlier stage comes first. Messages of the optimizer step, for which
  /// the third element is true, are apart.
  std::map<std::tuple<int, int, bool>, CutTraffic> cuts;
  Explanation explanation;
};
} // namespace

StatusOr<Explanation> explain::explainModule(ModuleOp module,
                                             const plan::Cluster &cluster) {
  PCC_ASSIGN_OR_RETURN(emit::ModelFacts facts, emit::readFacts(module));
  return Explainer(facts, cluster).run();
}
