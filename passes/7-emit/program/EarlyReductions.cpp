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
  return plan::sendPartOf(pipe::actionOf(function).str()).kind ==
         plan::TransferKind::Backward;
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
      add(collective, gradient, {}, /*isOfAll=*/false);
  }

  /// Of one microbatch a reduction for the update stands there as well.
  void collectOfBackward(dist::CollectiveOp collective, Value gradient) {
    std::vector<Operation *> readers;
    if (collective.getInput().getDefiningOp() &&
        (facts.microbatches == 1 ? isForUpdate(collective.getResult(), readers)
                                 : isForSum(collective.getResult(), readers)))
      add(collective, gradient, readers, /*isOfAll=*/facts.microbatches > 1);
  }

  void add(dist::CollectiveOp collective, Value gradient,
           const std::vector<Operation *> &readers, bool isOfAll) {
    func::FuncOp maker = functionAround(gradient);
    found.push_back({collective, gradient, maker, readers,
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
           isBackward(maker) && isReadOnce(gradient) &&
           isWhole(gradient, argument, maker);
  }

  /// Its bytes, which other shapes of it share, become those of the sum.
  static bool isReadOnce(Value value) {
    auto reshape = value.getDefiningOp<graph::ReshapeOp>();
    return value.hasOneUse() &&
           (!reshape || isReadOnce(reshape->getOperand(0)));
  }

  static Value lastReshape(Value value) {
    while (value.hasOneUse() && isa<graph::ReshapeOp>(*value.user_begin()))
      value = (*value.user_begin())->getResult(0);
    return value;
  }

  /// Whether the function returns `value`, or what ops make of it, as where
  /// several gradients came by one call, and does nothing else with it: adds
  /// these `readers`.
  static bool isForUpdate(Value value, std::vector<Operation *> &readers) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (isa<graph::ReshapeOp>(user))
        return isForUpdate(user->getResult(0), readers);
      if (isa<func::ReturnOp>(user))
        return true;
      if (isa<dist::CollectiveOp, pipe::SendOp>(user) ||
          !llvm::all_of(user->getResults(), isReturned))
        return false;
      if (!llvm::is_contained(readers, user))
        readers.push_back(user);
      return true;
    });
  }

  static bool isReturned(Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) {
      return isa<func::ReturnOp>(user) ||
             (isa<graph::ReshapeOp>(user) && isReturned(user->getResult(0)));
    });
  }

  static bool isForSum(Value value, std::vector<Operation *> &readers) {
    value = lastReshape(value);
    if (!value.hasOneUse() || !isLastSum(*value.user_begin()))
      return false;
    readers.push_back(*value.user_begin());
    return true;
  }

  /// Whether an op adds to a sum over microbatches, and nothing of the function
  /// waits for it.
  static bool isLastSum(Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [](Value operand) {
                          auto argument = dyn_cast<BlockArgument>(operand);
                          return argument && pipe::isAccumulator(argument);
                        }) &&
           llvm::all_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>);
  }

  /// Whether the last microbatch makes all of it, for `reader` alone.
  bool isWhole(Value gradient, BlockArgument reader, func::FuncOp maker) {
    bool isSum = facts.microbatches == 1;
    for (BlockArgument taker : takers[gradient])
      if (functionAround(taker) == maker && pipe::isAccumulator(taker))
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
  OverlapGroups groups;
  std::vector<EarlyReduction> found;
};
} // namespace

std::vector<EarlyReduction> emit::findEarlyReductions(ModelFacts &facts) {
  return EarlyReductionFinder(facts).run();
}
