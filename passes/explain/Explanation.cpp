//===- Explanation.cpp - causes and prices of all communication -----------===//

#include "passes/explain/Explanation.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "sharding/ShardingText.h"
#include "llvm/ADT/StringExtras.h"

#include <tuple>

using namespace mlir;
using namespace pcc;
using namespace pcc::explain;

/// Returns the decision of the sharding search about `place` (a producer or
/// consumer) along one of the mesh axes `axes`; null if there is none.
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
      seconds +=
          cluster.commSeconds(step.kind, static_cast<int>(step.stride),
                              static_cast<int>(step.ranks),
                              static_cast<double>(step.receivedBytes), 1);
  return seconds;
}

namespace {
/// Builds the Explanation of one module: collectives, transfers, totals and
/// lints.
class Explainer {
public:
  Explainer(const emit::ModelFacts &facts, const plan::Cluster &cluster)
      : facts(facts), cluster(cluster) {}

  /// Collects all collectives, transfers, totals and lints (warnings about
  /// suspicious shardings).
  Explanation run() {
    readHead();
    for (int stage = 0; stage < facts.numStages(); ++stage)
      for (const auto &entry : emit::collectivesOf(facts, stage))
        add(entry, stage);
    for (const emit::StageTransfer &transfer : facts.transfers)
      count(transfer);
    llvm::sort(explanation.totals,
               [](const CommunicationTotal &a, const CommunicationTotal &b) {
                 return std::tie(a.position, a.axes, a.kind) <
                        std::tie(b.position, b.axes, b.kind);
               });
    for (int position = 0; position < facts.numPositions(); ++position)
      explanation.receivedBytesOfPosition.push_back(
          emit::receivedBytes(facts, position));
    explanation.transfers = facts.transfers;
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

  /// Adds the collectives that `entry` describes to the explanation: one op, or
  /// several equal ones of the pipeline stage `stage`. The predicted time and
  /// the cause are those of the first op.
  void add(const emit::CollectiveFacts &entry, int stage) {
    dist::CollectiveOp op = entry.ops.front();
    ExplainedCollective made{entry,
                             stage,
                             op.getShape().vec(),
                             text(op.getFrom()),
                             text(op.getTo()),
                             emit::secondsOf(facts, entry.ops.front(), cluster),
                             dist::causeOf(op.getLoc())};
    count(made);
    explanation.collectives.push_back(std::move(made));
  }

  /// Formats a sharding as text, such as "[tp,-]". Leaves out the mesh axis
  /// `mb`, which counts microbatches.
  std::string text(dist::ShardingAttr sharding) const {
    return dist::toBriefString(dist::withoutTime(sharding.getSharding()),
                               facts.mesh.shardingMesh());
  }

  /// Adds the calls, bytes and seconds of a collective to `explanation.totals`,
  /// the communication of each pipeline position (the stages that one rank
  /// runs).
  void count(const ExplainedCollective &made) {
    count({facts.positionOfStage[made.stage], llvm::join(made.facts.axes, "+"),
           made.facts.kind, made.facts.callsPerStep(facts),
           made.facts.receivedBytes, made.seconds});
  }

  /// Adds a transfer between two stages to `explanation.totals`, as
  /// communication of the pipeline position (the stages that one rank runs)
  /// that receives it. A rank receives from the rank with the same mesh
  /// coordinates: with 4 ranks per position, rank 5 receives from rank 1.
  void count(const emit::StageTransfer &transfer) {
    const int from = facts.positionOfStage[transfer.fromStage];
    const int to = facts.positionOfStage[transfer.toStage];
    const int64_t bytes = emit::bytesOf(transfer.type);
    const auto stride = explanation.world / facts.numPositions();
    if (from != to)
      count({to, "pp", "transfer", transfer.callsPerStep(facts.microbatches),
             bytes,
             cluster.commSeconds("transfer",
                                 static_cast<int>(std::abs(to - from) * stride),
                                 2, static_cast<double>(bytes), 1)});
  }

  /// Adds `each` to the entry of `explanation.totals` that has the same
  /// pipeline position, axes and kind. `each.calls` is the number of calls per
  /// step. `each.receivedBytes` and `each.seconds` are those of one call.
  void count(const CommunicationTotal &each) {
    auto total =
        llvm::find_if(explanation.totals, [&](const CommunicationTotal &other) {
          return other.position == each.position && other.axes == each.axes &&
                 other.kind == each.kind;
        });
    if (total == explanation.totals.end())
      total = explanation.totals.insert(total,
                                        {each.position, each.axes, each.kind});
    total->calls += each.calls;
    total->receivedBytes += each.receivedBytes * each.calls;
    total->seconds += each.seconds * static_cast<double>(each.calls);
  }

  const emit::ModelFacts &facts;
  const plan::Cluster &cluster;
  Explanation explanation;
};
} // namespace

StatusOr<Explanation> explain::explainModule(ModuleOp module,
                                             const plan::Cluster &cluster) {
  PCC_ASSIGN_OR_RETURN(emit::ModelFacts facts, emit::readFacts(module));
  return Explainer(facts, cluster).run();
}
