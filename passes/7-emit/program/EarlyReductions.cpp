//===- EarlyReductions.cpp - gradients reduced during the backward pass ---===//

#include "passes/7-emit/program/EarlyReductions.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/7-emit/program/ModelFacts.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

static func::FuncOp functionAround(Value value) {
  return dyn_cast<func::FuncOp>(value.getParentBlock()->getParentOp());
}

static bool isBackward(func::FuncOp function) {
  return plan::waveOfAction(pipe::actionOf(function).str()).wave ==
         plan::Wave::Backward;
}

namespace {
class EarlyReductionFinder {
public:
  explicit EarlyReductionFinder(ModelFacts &facts) : facts(facts) {
    for (const auto &functions : facts.functions)
      for (func::FuncOp function : functions)
        for (BlockArgument argument : function.getArguments())
          if (Value made = heldBy(argument))
            takers[made].push_back(argument);
  }

  std::vector<EarlyReduction> run() {
    for (const auto &functions : facts.functions)
      for (func::FuncOp function : functions)
        for (auto collective : function.getOps<dist::CollectiveOp>())
          if (reduces(collective) && facts.groupOf(collective) >= 0)
            collect(collective, function);
    return std::move(found);
  }

private:
  static bool reduces(dist::CollectiveOp collective) {
    const dist::CollectiveKind kind = collective.getKind();
    return (kind == dist::CollectiveKind::AllReduce ||
            kind == dist::CollectiveKind::ReduceScatter) &&
           collective.getRows().empty();
  }

  void collect(dist::CollectiveOp collective, func::FuncOp function) {
    if (isBackward(function) ? isOnlyReturned(collective)
                             : isOfUpdate(collective, function))
      found.push_back({collective, gradientOf(collective),
                       functionAround(gradientOf(collective)),
                       lastMicrobatch(functionAround(gradientOf(collective))),
                       groupBeside(facts.groupOf(collective))});
  }

  /// What the reduction is of, where it is made.
  static Value gradientOf(dist::CollectiveOp collective) {
    auto argument = dyn_cast<BlockArgument>(collective.getInput());
    return argument ? heldBy(argument) : collective.getInput();
  }

  bool isOfUpdate(dist::CollectiveOp collective, func::FuncOp function) {
    auto argument = dyn_cast<BlockArgument>(collective.getInput());
    Value gradient = argument ? heldBy(argument) : Value();
    func::FuncOp maker = gradient ? functionAround(gradient) : func::FuncOp();
    return pipe::actionOf(function).starts_with("U") && maker &&
           argument.hasOneUse() && gradient.getDefiningOp() &&
           isBackward(maker) && gradient.hasOneUse() &&
           isWhole(gradient, argument, maker);
  }

  /// Of one microbatch the reduction stands in the backward pass itself.
  bool isOnlyReturned(dist::CollectiveOp collective) const {
    if (facts.microbatches > 1 || !collective.getInput().getDefiningOp())
      return false;
    Value value = collective.getResult();
    while (value.hasOneUse() && isa<graph::ReshapeOp>(*value.user_begin()))
      value = (*value.user_begin())->getResult(0);
    return value.hasOneUse() && isa<func::ReturnOp>(*value.user_begin());
  }

  /// Whether the last microbatch makes all of it, for `reader` alone.
  bool isWhole(Value gradient, BlockArgument reader, func::FuncOp maker) {
    bool isSum = facts.microbatches == 1;
    for (BlockArgument taker : takers[gradient])
      if (functionAround(taker) == maker && pipe::isSumSoFar(taker))
        isSum = true;
      else if (taker != reader)
        return false;
    return isSum;
  }

  int lastMicrobatch(func::FuncOp maker) const {
    const auto stage = static_cast<size_t>(pipe::stageOf(maker));
    int last = 0;
    for (const plan::ProgramStep &step :
         facts.pipeline.positions[facts.positionOfStage[stage]])
      if (step.kind == plan::ProgramStep::Compute &&
          facts.functionOf(step.action) == maker)
        last = std::max(step.action.microbatch, 0);
    return last;
  }

  int groupBeside(int group) {
    auto [known, isNew] =
        groups.try_emplace(group, static_cast<int>(facts.groups.size()));
    if (isNew)
      facts.groups.push_back(runtime::GroupSpec(facts.groups[group]));
    return known->second;
  }

  ModelFacts &facts;
  /// The arguments of other functions, or its own, that take a result.
  llvm::DenseMap<Value, llvm::SmallVector<BlockArgument, 2>> takers;
  std::map<int, int> groups;
  std::vector<EarlyReduction> found;
};
} // namespace

std::vector<EarlyReduction> emit::findEarlyReductions(ModelFacts &facts) {
  return EarlyReductionFinder(facts).run();
}
