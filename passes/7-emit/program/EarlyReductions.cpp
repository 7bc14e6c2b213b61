//===- EarlyReductions.cpp - gradient reductions that overlap backward ----===//

#include "passes/7-emit/program/EarlyReductions.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/7-emit/program/ModelFacts.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns the function that defines `value`; null if a kernel or library call
/// defines it.
static func::FuncOp functionAround(Value value) {
  return dyn_cast<func::FuncOp>(value.getParentBlock()->getParentOp());
}

static bool isBackward(func::FuncOp function) {
  return plan::sendPartOf(pipe::actionOf(function).str()).kind ==
         plan::TransferKind::Backward;
}

namespace {
/// Finds the reductions of gradients that can start during the backward pass.
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
  /// Returns whether `collective` is an all_reduce or a reduce_scatter of all
  /// elements. Returns false for a reduction of only some rows of a tensor,
  /// which cannot be split into a start and a finish.
  static bool reduces(dist::CollectiveOp collective) {
    const dist::CollectiveKind kind = collective.getKind();
    return (kind == dist::CollectiveKind::AllReduce ||
            kind == dist::CollectiveKind::ReduceScatter) &&
           collective.getRows().empty();
  }

  /// Appends `collective`, an op of `function`, to `found` if it reduces a
  /// gradient and can start during the backward pass.
  void collect(dist::CollectiveOp collective, func::FuncOp function) {
    Value gradient = gradientOf(collective);
    if (!gradient || communicates(gradient))
      return;
    if (isBackward(function))
      collectOfBackward(collective, gradient);
    else if (isOfUpdate(collective, gradient, function))
      add(collective, gradient, {}, /*isOfAll=*/false);
  }

  /// Appends `collective`, an op of a backward function, to `found` if the
  /// function uses the result for only one purpose:
  ///
  ///   one microbatch          to return it, or for example slices of it
  ///   several microbatches    to add it to a sum over microbatches
  void collectOfBackward(dist::CollectiveOp collective, Value gradient) {
    std::vector<Operation *> readers;
    if (collective.getInput().getDefiningOp() &&
        (facts.microbatches == 1 ? isForUpdate(collective.getResult(), readers)
                                 : isForSum(collective.getResult(), readers)))
      add(collective, gradient, readers, /*isOfAll=*/facts.microbatches > 1);
  }

  /// Appends an early reduction to `found`. The reduction runs for every
  /// microbatch if `isOfAll` is true, else only for the last one.
  void add(dist::CollectiveOp collective, Value gradient,
           const std::vector<Operation *> &readers, bool isOfAll) {
    func::FuncOp maker = functionAround(gradient);
    found.push_back({collective, gradient, maker, readers,
                     isOfAll ? -1 : lastMicrobatch(maker),
                     groups.of(facts.groupOf(collective))});
  }

  /// Returns whether `value` is the result of another collective, possibly
  /// reshaped. The other collective may finish late, so a reduction of `value`
  /// cannot start early.
  static bool communicates(Value value) {
    while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
      value = reshape->getOperand(0);
    return isa_and_nonnull<dist::CollectiveOp>(value.getDefiningOp());
  }

  /// Returns the SSA value that `collective` reduces. For a function argument,
  /// this is the result that another function passes to the argument. Returns
  /// null for an input of the model.
  static Value gradientOf(dist::CollectiveOp collective) {
    auto argument = dyn_cast<BlockArgument>(collective.getInput());
    return argument ? pipe::heldBy(argument) : collective.getInput();
  }

  /// Returns whether `collective`, an op of `function`, can start as soon as
  /// the backward pass has computed `gradient`. Three conditions must hold:
  ///
  ///   - `function` is a part of the optimizer update.
  ///   - `gradient` is a sum over microbatches, or there is one microbatch.
  ///   - No other op reads `gradient`, except to add the next microbatch's.
  bool isOfUpdate(dist::CollectiveOp collective, Value gradient,
                  func::FuncOp function) {
    auto argument = dyn_cast<BlockArgument>(collective.getInput());
    func::FuncOp maker = functionAround(gradient);
    return pipe::actionOf(function).starts_with("U") && maker && argument &&
           argument.hasOneUse() && gradient.getDefiningOp() &&
           isBackward(maker) && isReadOnce(gradient) &&
           isWhole(gradient, argument, maker);
  }

  /// Returns whether `value` has only one reader, so that an all_reduce may
  /// overwrite it. A reshape's operand and result share memory. If a reshape
  /// computes `value`, its operand must have one reader, too.
  static bool isReadOnce(Value value) {
    auto reshape = value.getDefiningOp<graph::ReshapeOp>();
    return value.hasOneUse() &&
           (!reshape || isReadOnce(reshape->getOperand(0)));
  }

  /// Follows the reshapes that read `value`, and returns the result of the last
  /// one. Stops at a value with several readers.
  static Value lastReshape(Value value) {
    while (value.hasOneUse() && isa<graph::ReshapeOp>(*value.user_begin()))
      value = (*value.user_begin())->getResult(0);
    return value;
  }

  /// Returns whether every reader of `value` is of one of two kinds:
  ///
  ///   - a `return` op,
  ///   - an op such as a slice, but no collective or send, whose results only
  ///     `return` ops read.
  ///
  /// Appends the ops of the second kind to `readers`. Looks through reshapes.
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

  /// Returns whether only `return` ops read `value`, directly or through
  /// reshapes.
  static bool isReturned(Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) {
      return isa<func::ReturnOp>(user) ||
             (isa<graph::ReshapeOp>(user) && isReturned(user->getResult(0)));
    });
  }

  /// Returns whether `value`, possibly reshaped, is only added to a sum over
  /// microbatches. If so, appends the adding op to `readers`.
  static bool isForSum(Value value, std::vector<Operation *> &readers) {
    value = lastReshape(value);
    if (!value.hasOneUse() || !isLastSum(*value.user_begin()))
      return false;
    readers.push_back(*value.user_begin());
    return true;
  }

  /// Returns whether `op` adds to the sum over the earlier microbatches, and
  /// only `return` ops read the new sum.
  static bool isLastSum(Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [](Value operand) {
                          auto argument = dyn_cast<BlockArgument>(operand);
                          return argument && pipe::isAccumulator(argument);
                        }) &&
           llvm::all_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>);
  }

  /// Returns whether `gradient`, a result of the function `maker`, is final
  /// after the last microbatch. Two conditions must hold:
  ///
  ///   - `gradient` is a sum over microbatches, or there is one microbatch.
  ///   - `gradient` is passed only to `reader`, an argument of the optimizer
  ///     update, and to the next run of `maker`, which adds to the sum.
  bool isWhole(Value gradient, BlockArgument reader, func::FuncOp maker) {
    bool isSum = facts.microbatches == 1;
    for (BlockArgument taker : takers[gradient])
      if (functionAround(taker) == maker && pipe::isAccumulator(taker))
        isSum = true;
      else if (taker != reader)
        return false;
    return isSum;
  }

  /// Returns the last microbatch for which the pipeline position runs `maker`.
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
  /// Function arguments to which the pipeline passes a function's result, by
  /// the result. Example: a sum of gradients goes to the optimizer update, and
  /// to the next run of the function that computes it.
  llvm::DenseMap<Value, llvm::SmallVector<BlockArgument, 2>> takers;
  OverlapGroups groups;
  std::vector<EarlyReduction> found;
};
} // namespace

std::vector<EarlyReduction> emit::findEarlyReductions(ModelFacts &facts) {
  return EarlyReductionFinder(facts).run();
}
