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
  explicit EarlyReductionFinder(ModelFacts &facts)
      : facts(facts), groups(facts) {
    for (const auto &functions : facts.functions)
      for (func::FuncOp function : functions)
        for (BlockArgument argument : function.getArguments())
          if (Value made = pipe::heldBy(argument))
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
    Value gradient = gradientOf(collective);
    if (!gradient || communicates(gradient))
      return;
    if (isBackward(function))
      collectOfBackward(collective, gradient);
    else if (isOfUpdate(collective, gradient, function))
      add(collective, gradient, nullptr, /*isOfAll=*/false);
  }

  /// Of one microbatch a reduction for the update stands there as well.
  void collectOfBackward(dist::CollectiveOp collective, Value gradient) {
    Value value = lastReshape(collective.getResult());
    if (!collective.getInput().getDefiningOp() || !value.hasOneUse())
      return;
    Operation *reader = *value.user_begin();
    const bool isReturned = isa<func::ReturnOp>(reader);
    if (isReturned ? facts.microbatches == 1 : isLastSum(reader))
      add(collective, gradient, isReturned ? nullptr : reader,
          /*isOfAll=*/facts.microbatches > 1);
  }

  void add(dist::CollectiveOp collective, Value gradient, Operation *reader,
           bool isOfAll) {
    func::FuncOp maker = functionAround(gradient);
    found.push_back({collective, gradient, maker, reader,
                     isOfAll ? -1 : lastMicrobatch(maker),
                     groups.of(facts.groupOf(collective))});
  }

  /// Whether a value comes from a collective, which may end later.
  static bool communicates(Value value) {
    while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
      value = reshape->getOperand(0);
    return isa_and_nonnull<dist::CollectiveOp>(value.getDefiningOp());
  }

  /// What the reduction is of, where it is made; null for an input.
  static Value gradientOf(dist::CollectiveOp collective) {
    auto argument = dyn_cast<BlockArgument>(collective.getInput());
    return argument ? pipe::heldBy(argument) : collective.getInput();
  }

  bool isOfUpdate(dist::CollectiveOp collective, Value gradient,
                  func::FuncOp function) {
    auto argument = dyn_cast<BlockArgument>(collective.getInput());
    func::FuncOp maker = functionAround(gradient);
    return pipe::actionOf(function).starts_with("U") && maker && argument &&
           argument.hasOneUse() && gradient.getDefiningOp() &&
           isBackward(maker) && gradient.hasOneUse() &&
           isWhole(gradient, argument, maker);
  }

  static Value lastReshape(Value value) {
    while (value.hasOneUse() && isa<graph::ReshapeOp>(*value.user_begin()))
      value = (*value.user_begin())->getResult(0);
    return value;
  }

  /// Whether an op adds to a sum over microbatches, and nothing of the function
  /// waits for it.
  static bool isLastSum(Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [](Value operand) {
                          auto argument = dyn_cast<BlockArgument>(operand);
                          return argument && pipe::isSumSoFar(argument);
                        }) &&
           llvm::all_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>);
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

  ModelFacts &facts;
  /// The arguments of other functions, or its own, that take a result.
  llvm::DenseMap<Value, llvm::SmallVector<BlockArgument, 2>> takers;
  GroupsBeside groups;
  std::vector<EarlyReduction> found;
};
} // namespace

std::vector<EarlyReduction> emit::findEarlyReductions(ModelFacts &facts) {
  return EarlyReductionFinder(facts).run();
}
