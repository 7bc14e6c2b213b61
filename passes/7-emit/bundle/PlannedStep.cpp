//===- PlannedStep.cpp - simulated timeline of one step -------------------===//

#include "passes/7-emit/bundle/PlannedStep.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/7-emit/bundle/CollectiveFacts.h"
#include "passes/7-emit/program/FlopCounter.h"
#include "passes/plan/cluster/Cluster.h"
#include "passes/plan/schedule/SimulateMessages.h"
#include "runtime/program/StepMemory.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
/// Estimates how many seconds each action of a step takes, and how many seconds
/// each message between two pipeline stages takes. An action is one run of a
/// stage, such as the forward pass of stage 1 for microbatch 0. The estimates
/// are computed from the speeds of a cluster. The attribute `dist.cluster` of
/// the MLIR module describes this cluster. If the module has no such attribute,
/// StepPrices uses the speeds of a built-in description.
class StepPrices {
public:
  explicit StepPrices(const ModelFacts &facts)
      : facts(facts), flops(facts.module),
        cluster(plan::clusterOf(dist::clusterOf(facts.module),
                                dist::targetOf(facts.module))) {
    for (int stage = 0; stage < facts.numStages(); ++stage)
      for (func::FuncOp function : facts.functions[stage])
        addFunction(function);
  }

  /// Returns two functions. `seconds` estimates the seconds of one run of a
  /// stage. `transferSeconds` estimates the seconds of one message between two
  /// stages. This object must outlive both functions.
  plan::ActionCosts costs() const {
    return {.seconds =
                [this](const plan::Action &action) {
                  return seconds.lookup(facts.functionOf(action));
                },
            .transferSeconds =
                [this](int from, int to) { return messageSeconds(from, to); }};
  }

  /// For each row of the timeline, stores the collectives of the row's actions
  /// in `timeline.messages`, in the order of their start times.
  void addCollectives(runtime::Timeline &timeline) const {
    timeline.messages.resize(timeline.positions.size());
    for (size_t row = 0; row < timeline.positions.size(); ++row) {
      std::vector<runtime::TimedAction> &messages = timeline.messages[row];
      for (const runtime::TimedAction &timed : timeline.positions[row])
        addCollectives(timed, messages);
      llvm::stable_sort(messages, [](const auto &left, const auto &right) {
        return left.start < right.start;
      });
    }
    runtime::measureIdle(timeline);
  }

private:
  /// Returns how many bytes `op` reads from memory and writes to memory. This
  /// number is the total size of all operands and results of `op`. Example: an
  /// addition of two f32 tensors of shape [10] reads 80 bytes and writes 40
  /// bytes. The result is 120.
  static double bytesMoved(Operation &op) {
    double bytes = 0;
    for (Value value : llvm::concat<Value>(llvm::to_vector(op.getOperands()),
                                           llvm::to_vector(op.getResults())))
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        bytes += static_cast<double>(bytesOf(type));
    return bytes;
  }

  /// Returns whether ranks communicate in `op`.
  bool communicates(Operation &op) const {
    auto collective = dyn_cast<dist::CollectiveOp>(op);
    return collective && facts.groupOf(collective) >= 0;
  }

  /// Returns the estimated seconds of `op`. Ops without operands count as 0.
  /// Sends to another stage count as 0 because messageSeconds() estimates them.
  double secondsOf(Operation &op) const {
    if (communicates(op))
      return emit::secondsOf(facts, cast<dist::CollectiveOp>(op), cluster);
    return op.getNumOperands() && !isa<pipe::SendOp>(op)
               ? cluster.computeSeconds(flops.of(op), bytesMoved(op),
                                        typeNameOf(op))
               : 0;
  }

  /// Estimates the seconds of one call of `function`, and the times of the
  /// collectives in it.
  void addFunction(func::FuncOp function) {
    double end = 0;
    for (Operation &op : function.front().without_terminator()) {
      const double start = end;
      end += secondsOf(op);
      if (!communicates(op))
        continue;
      auto collective = cast<dist::CollectiveOp>(op);
      collectives[function].push_back(
          {start, end,
           std::string(dist::toString(collective.getKind())) + " " +
               collective.getValue().str()});
    }
    seconds[function] = end;
  }

  /// Appends the collectives of the action `timed` to `messages`.
  void addCollectives(const runtime::TimedAction &timed,
                      std::vector<runtime::TimedAction> &messages) const {
    const auto found = collectives.find(facts.functionOf(timed.action));
    if (found == collectives.end())
      return;
    for (const auto &[start, end, name] : found->second)
      messages.push_back({{runtime::ActionKind::Communication,
                           timed.action.stage, timed.action.microbatch},
                          timed.start + start,
                          timed.start + end,
                          runtime::nameOf(timed) + " " + name});
  }

  /// Returns the estimated seconds of one message from stage `from` to stage
  /// `to`. Uses the mean size of the values that `from` sends to `to`. Returns
  /// 0 if the same ranks run both stages.
  double messageSeconds(int from, int to) const {
    double bytes = 0, count = 0;
    for (const StageTransfer &transfer : facts.transfers)
      if (transfer.fromStage == from && transfer.toStage == to)
        bytes += static_cast<double>(bytesOf(transfer.type)), ++count;
    const int64_t perPosition =
        runtime::numRanks(facts.mesh.ranks()) / facts.numPositions();
    const int64_t stride =
        std::abs(facts.positionOfStage[to] - facts.positionOfStage[from]) *
        perPosition;
    return stride && count
               ? cluster.commSeconds("transfer", plan::RankGroup(stride, 2),
                                     bytes / count)
               : 0;
  }

  const ModelFacts &facts;
  const FlopCounter flops;
  const plan::Cluster cluster;
  llvm::DenseMap<Operation *, double> seconds;
  /// A collective in a stage function. `start` and `end` are in seconds after
  /// the beginning of a call of this function.
  struct TimedCollective {
    double start, end;
    std::string name;
  };
  llvm::DenseMap<Operation *, std::vector<TimedCollective>> collectives;
};
} // namespace

runtime::Timeline
emit::plannedStep(const ModelFacts &facts,
                  const std::vector<PositionProgram> &programs) {
  const StepPrices prices(facts);
  runtime::Timeline timeline =
      plan::simulateMessages(facts.pipeline, prices.costs());
  prices.addCollectives(timeline);
  std::vector<runtime::RowMemory> memory;
  for (const PositionProgram &program : programs)
    memory.push_back(runtime::memoryOf(program.tables));
  runtime::addMemory(timeline, memory);
  const int64_t perPosition =
      runtime::numRanks(facts.mesh.ranks()) / facts.numPositions();
  for (int64_t first = 0; first < runtime::numRanks(facts.mesh.ranks());
       first += perPosition)
    timeline.names.push_back(perPosition == 1
                                 ? "rank " + std::to_string(first)
                                 : "ranks " + std::to_string(first) + " to " +
                                       std::to_string(first + perPosition - 1));
  return timeline;
}
