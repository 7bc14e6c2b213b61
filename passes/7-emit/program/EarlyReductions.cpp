//===- EarlyReductions.cpp - gradient reductions that overlap backward ----===//

#include "passes/7-emit/program/EarlyReductions.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/7-emit/program/ModelFacts.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns the function that contains `value`. `value` is a result of an op or
/// an argument. Returns null if `value` is inside the body of a kernel or of a
/// library call. Kernels and library calls are ops with bodies of their own.
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
  /// Returns whether `collective` is an all_reduce or a reduce_scatter that
  /// reduces all elements of its operand. A reduce_scatter can have boolean
  /// masks. The masks select rows of the operand at run time, and the ranks
  /// send only the selected rows. Example: the operand has the shape [8, 16],
  /// and a mask of 8 booleans selects some of the 8 rows. The result is false
  /// for a reduce_scatter with masks, because it cannot be split into a start
  /// and a finish.
  static bool reduces(dist::CollectiveOp collective) {
    const dist::CollectiveKind kind = collective.getKind();
    return (kind == dist::CollectiveKind::AllReduce ||
            kind == dist::CollectiveKind::ReduceScatter) &&
           collective.getRows().empty();
  }

  /// Appends `collective` to the list `found` if `collective` reduces a
  /// gradient and can start during the backward pass. `found` lists all
  /// reductions that start during the backward pass. `function` is the stage
  /// function that contains `collective`. If `function` is neither a backward
  /// function nor an optimizer update, appends nothing.
  void collect(dist::CollectiveOp collective, func::FuncOp function) {
    Value gradient = gradientOf(collective);
    if (!gradient || communicates(gradient))
      return;
    if (isBackward(function))
      collectOfBackward(collective, gradient);
    else if (isOfUpdate(collective, gradient, function))
      add(collective, gradient, {}, /*isOfAll=*/false);
  }

  /// Appends `collective` to the list `found` if `collective` can start during
  /// the backward pass. `collective` is an op of a backward function, and
  /// reduces `gradient`. Two conditions must hold:
  ///
  ///  1. An op of the backward function computes the input of `collective`.
  ///  2. The function does not need the result for other gradients. With one
  ///     microbatch, isForUpdate() checks that the result is only returned.
  ///     With several, isForSum() checks that it is only added to a returned
  ///     sum.
  void collectOfBackward(dist::CollectiveOp collective, Value gradient) {
    std::vector<Operation *> readers;
    if (collective.getInput().getDefiningOp() &&
        (facts.microbatches == 1 ? isForUpdate(collective.getResult(), readers)
                                 : isForSum(collective.getResult(), readers)))
      add(collective, gradient, readers, /*isOfAll=*/facts.microbatches > 1);
  }

  /// Appends an entry for `collective` to `found`, the list of the reductions
  /// that can start during the backward pass. `collective` reduces `gradient`.
  /// `readers` are the ops of the backward function that read the result of
  /// `collective`. They must run after `collective` has finished. If `isOfAll`
  /// is true, the ranks execute `collective` for every microbatch. Otherwise
  /// they execute `collective` only for the last microbatch.
  void add(dist::CollectiveOp collective, Value gradient,
           const std::vector<Operation *> &readers, bool isOfAll) {
    func::FuncOp maker = functionAround(gradient);
    found.push_back({collective, gradient, maker, readers,
                     isOfAll ? -1 : lastMicrobatch(maker),
                     groups.of(facts.groupOf(collective))});
  }

  /// Returns whether `value` is the result of a collective, or a reshape of
  /// this result. `value` is a gradient that a second collective reduces. If
  /// the function returns true, the second collective does not start during the
  /// backward pass. The reason is that the first collective may run as two
  /// instructions, a start and a finish. The gradient exists only after the
  /// finish. Example: the function returns true for %b, so the reduce_scatter
  /// does not start early.
  ///
  ///     %a = all_reduce %x
  ///     %b = reshape %a
  ///     %c = reduce_scatter %b
  static bool communicates(Value value) {
    while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
      value = reshape->getOperand(0);
    return isa_and_nonnull<dist::CollectiveOp>(value.getDefiningOp());
  }

  /// Returns the SSA value that `collective` reduces. If the input is the
  /// result of an op, returns the input. If the pipeline passes a result of a
  /// stage function to the input, a function argument, returns the operand of
  /// the `return` op: %sum in the example. For other arguments, such as inputs
  /// of the model, returns null.
  ///
  ///       func @backward() { return %sum }
  ///       func @update(%a) { all_reduce %a }
  static Value gradientOf(dist::CollectiveOp collective) {
    auto argument = dyn_cast<BlockArgument>(collective.getInput());
    return argument ? pipe::heldBy(argument) : collective.getInput();
  }

  /// Returns whether `collective`, an op of `function`, can start in the last
  /// run of the backward function that computes its input `gradient`.
  /// Conditions:
  ///
  /// - `function` is the optimizer update or a part of the optimizer update.
  /// - Only `collective` reads the argument to which `gradient` is passed.
  /// - An op of a backward function computes `gradient`, and only the `return`
  ///   op reads it (isReadOnce).
  /// - `gradient` is complete and needed nowhere else (isWhole).
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

  /// Returns the last value of a chain of reshapes that starts at `value`. A
  /// reshape continues the chain if it is the only op that reads the value
  /// before it. If `value` has several readers, or its reader is no reshape,
  /// returns `value`. Example: for %a, the result is %c.
  ///
  ///     %b = reshape %a
  ///     %c = reshape %b
  ///     %d = add %c, %sum
  static Value lastReshape(Value value) {
    while (value.hasOneUse() && isa<graph::ReshapeOp>(*value.user_begin()))
      value = (*value.user_begin())->getResult(0);
    return value;
  }

  /// Returns whether each op that reads `value` is a `return` op, or an op
  /// whose results only `return` ops read. A collective or a send is not
  /// allowed. Looks through reshapes. Appends the ops that are neither `return`
  /// ops nor reshapes to `readers`. Example: for %a, returns true and appends
  /// the slice.
  ///
  ///     %b = slice %a
  ///     return %a, %b
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

  /// Returns whether the only reader of `value` adds it to a sum over
  /// microbatches, and only `return` ops read the new sum. Looks through
  /// reshapes of `value`. If the result is true, appends the adding op to
  /// `readers`. Example: %sum is the sum over the preceding microbatches. For
  /// %a, appends the add.
  ///
  ///     %b = reshape %a
  ///     %c = add %sum, %b
  ///     return %c
  static bool isForSum(Value value, std::vector<Operation *> &readers) {
    value = lastReshape(value);
    if (!value.hasOneUse() || !isLastSum(*value.user_begin()))
      return false;
    readers.push_back(*value.user_begin());
    return true;
  }

  /// Returns whether `op` adds a value to a sum over microbatches, and only
  /// `return` ops read the new sum. `op` is an op of a backward function. One
  /// operand of `op` must be the argument of this function that holds the sum
  /// over the preceding microbatches.
  ///
  /// Example: %sum is this argument. The function returns true for the add.
  ///
  ///     %c = add %sum, %b
  ///     return %c
  static bool isLastSum(Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [](Value operand) {
                          auto argument = dyn_cast<BlockArgument>(operand);
                          return argument && pipe::isAccumulator(argument);
                        }) &&
           llvm::all_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>);
  }

  /// Returns whether `gradient` is complete after the last run of `maker`, and
  /// only the optimizer update reads the complete value. `maker` is a backward
  /// function that runs once per microbatch and returns `gradient`. `reader` is
  /// an argument of the optimizer update. The pipeline passes `gradient` to
  /// `reader`. Two conditions must hold:
  ///
  /// - There is only one microbatch, or `gradient` is a sum over microbatches.
  ///   If `gradient` is a sum, the pipeline also passes `gradient` to an
  ///   argument of `maker`. The next run of `maker` adds the gradient of the
  ///   next microbatch. Example: with two microbatches, the first run returns
  ///   g0, and the second run returns g0 + g1.
  /// - The pipeline passes `gradient` to no other arguments.
  bool isWhole(Value gradient, BlockArgument reader, func::FuncOp maker) {
    bool isSum = facts.microbatches == 1;
    for (BlockArgument taker : takers[gradient])
      if (functionAround(taker) == maker && pipe::isAccumulator(taker))
        isSum = true;
      else if (taker != reader)
        return false;
    return isSum;
  }

  /// Returns the index of the last microbatch for which the pipeline schedule
  /// runs the backward function `maker`. Example: the result is 3 if the
  /// schedule runs `maker` for the microbatches 0, 1, 2 and 3, in this order.
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
  /// Arguments to which the pipeline passes the results of stage functions. The
  /// key is a result of a function. The entry lists the arguments to which this
  /// result is passed. Example: a backward function computes a sum of
  /// gradients. The entry for the sum lists two arguments: an argument of the
  /// optimizer update, and an argument of the backward function itself, which
  /// receives the sum in its next run.
  llvm::DenseMap<Value, llvm::SmallVector<BlockArgument, 2>> takers;
  OverlapGroups groups;
  std::vector<EarlyReduction> found;
};
} // namespace

std::vector<EarlyReduction> emit::findEarlyReductions(ModelFacts &facts) {
  return EarlyReductionFinder(facts).run();
}
