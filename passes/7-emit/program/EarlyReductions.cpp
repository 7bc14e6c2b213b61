//===- EarlyReductions.cpp - gradient reductions that overlap backward ----===//

#include "passes/7-emit/program/EarlyReductions.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/7-emit/program/ModelFacts.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns the function in whose body `value` is defined. Returns null if
/// `value` is defined in a kernel or library call.
static func::FuncOp functionAround(Value value) {
  return dyn_cast<func::FuncOp>(value.getParentBlock()->getParentOp());
}

static bool isBackward(func::FuncOp function) {
  return plan::sendPartOf(pipe::actionOf(function).str()).kind ==
         plan::TransferKind::Backward;
}

namespace {
/// Finds the reductions of gradients that can start early, in all functions of
/// the module.
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
  /// Returns whether a collective reduces whole tensors. False for a reduction
  /// of selected rows, which cannot be split into a start and a finish.
  static bool reduces(dist::CollectiveOp collective) {
    const dist::CollectiveKind kind = collective.getKind();
    return (kind == dist::CollectiveKind::AllReduce ||
            kind == dist::CollectiveKind::ReduceScatter) &&
           collective.getRows().empty();
  }

  /// Appends `collective`, an op of `function`, to `found` if it reduces a
  /// gradient and can start early. Otherwise does nothing.
  void collect(dist::CollectiveOp collective, func::FuncOp function) {
    Value gradient = gradientOf(collective);
    if (!gradient || communicates(gradient))
      return;
    if (isBackward(function))
      collectOfBackward(collective, gradient);
    else if (isOfUpdate(collective, gradient, function))
      add(collective, gradient, {}, /*isOfAll=*/false);
  }

  /// Appends `collective`, which reduces `gradient` in a backward function, to
  /// `found` if it can start early. The result must go to one of these places:
  ///
  ///   one microbatch           results of the function, for the update
  ///   several microbatches     a sum over microbatches
  void collectOfBackward(dist::CollectiveOp collective, Value gradient) {
    std::vector<Operation *> readers;
    if (collective.getInput().getDefiningOp() &&
        (facts.microbatches == 1 ? isForUpdate(collective.getResult(), readers)
                                 : isForSum(collective.getResult(), readers)))
      add(collective, gradient, readers, /*isOfAll=*/facts.microbatches > 1);
  }

  /// Appends an early reduction of `gradient` by `collective` to `found`.
  /// `readers` are the ops that read the reduced value. The reduction runs for
  /// every microbatch if `isOfAll` is true, else only for the last one.
  void add(dist::CollectiveOp collective, Value gradient,
           const std::vector<Operation *> &readers, bool isOfAll) {
    func::FuncOp maker = functionAround(gradient);
    found.push_back({collective, gradient, maker, readers,
                     isOfAll ? -1 : lastMicrobatch(maker),
                     groups.of(facts.groupOf(collective))});
  }

  /// Returns whether `value` is the result of a collective, possibly reshaped.
  /// A reduction of such a value cannot start early, since the collective may
  /// finish late.
  static bool communicates(Value value) {
    while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
      value = reshape->getOperand(0);
    return isa_and_nonnull<dist::CollectiveOp>(value.getDefiningOp());
  }

  /// Returns the SSA value that `collective` reduces. If the operand of
  /// `collective` is a function argument, this is the result of another
  /// function that the argument stands for. Returns null if the argument is an
  /// input of the model.
  static Value gradientOf(dist::CollectiveOp collective) {
    auto argument = dyn_cast<BlockArgument>(collective.getInput());
    return argument ? pipe::heldBy(argument) : collective.getInput();
  }

  /// Returns whether `collective`, an op of `function`, can start early, in the
  /// backward function that computes `gradient`. Three conditions must hold:
  ///
  ///   - `function` is a part of the optimizer update.
  ///   - The collective is the only reader of the gradient.
  ///   - The gradient is complete after the last microbatch.
  bool isOfUpdate(dist::CollectiveOp collective, Value gradient,
                  func::FuncOp function) {
    auto argument = dyn_cast<BlockArgument>(collective.getInput());
    func::FuncOp maker = functionAround(gradient);
    return pipe::actionOf(function).starts_with("U") && maker && argument &&
           argument.hasOneUse() && gradient.getDefiningOp() &&
           isBackward(maker) && isReadOnce(gradient) &&
           isWhole(gradient, argument, maker);
  }

  /// Returns whether an all_reduce may overwrite the bytes of `value`. For
  /// this, `value` must have only one reader. The result of a reshape has the
  /// bytes of its operand, so the operand must have only one reader, too.
  static bool isReadOnce(Value value) {
    auto reshape = value.getDefiningOp<graph::ReshapeOp>();
    return value.hasOneUse() &&
           (!reshape || isReadOnce(reshape->getOperand(0)));
  }

  /// Returns the result of the last reshape in the chain of reshapes that
  /// starts at `value`. The chain ends at a value with several readers. Returns
  /// `value` if no reshape follows.
  static Value lastReshape(Value value) {
    while (value.hasOneUse() && isa<graph::ReshapeOp>(*value.user_begin()))
      value = (*value.user_begin())->getResult(0);
    return value;
  }

  /// Returns whether the function only returns `value`, or results of ops that
  /// read it. An example of these ops is a slice that separates several
  /// gradients which were reduced together. Appends these ops to `readers`.
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

  /// Returns whether the function only returns `value`, directly or through
  /// reshapes.
  static bool isReturned(Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) {
      return isa<func::ReturnOp>(user) ||
             (isa<graph::ReshapeOp>(user) && isReturned(user->getResult(0)));
    });
  }

  /// Returns whether the only reader of `value`, possibly reshaped, is an op
  /// that adds it to a sum over microbatches. If so, appends this op to
  /// `readers`.
  static bool isForSum(Value value, std::vector<Operation *> &readers) {
    value = lastReshape(value);
    if (!value.hasOneUse() || !isLastSum(*value.user_begin()))
      return false;
    readers.push_back(*value.user_begin());
    return true;
  }

  /// Returns whether `op` computes the new sum over microbatches: it reads the
  /// sum so far, and its result is only returned.
  static bool isLastSum(Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [](Value operand) {
                          auto argument = dyn_cast<BlockArgument>(operand);
                          return argument && pipe::isAccumulator(argument);
                        }) &&
           llvm::all_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>);
  }

  /// Returns whether `gradient`, a result of the function `maker`, is complete
  /// after the last microbatch, so that it can be reduced. `reader` is the
  /// argument of the update through which the reduction reads `gradient`. Two
  /// conditions must hold:
  ///
  ///   - If there are several microbatches, `gradient` is a sum over them.
  ///   - Apart from `reader`, only the argument of `maker` that carries this
  ///     sum to the next microbatch reads `gradient`.
  bool isWhole(Value gradient, BlockArgument reader, func::FuncOp maker) {
    bool isSum = facts.microbatches == 1;
    for (BlockArgument taker : takers[gradient])
      if (functionAround(taker) == maker && pipe::isAccumulator(taker))
        isSum = true;
      else if (taker != reader)
        return false;
    return isSum;
  }

  /// Returns the index of the last microbatch for which the pipeline position
  /// runs `maker`.
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
  /// For each result of a function, the arguments to which it is passed:
  /// arguments of other functions, or the argument of the function itself that
  /// carries a sum to the next microbatch.
  llvm::DenseMap<Value, llvm::SmallVector<BlockArgument, 2>> takers;
  OverlapGroups groups;
  std::vector<EarlyReduction> found;
};
} // namespace

std::vector<EarlyReduction> emit::findEarlyReductions(ModelFacts &facts) {
  return EarlyReductionFinder(facts).run();
}
