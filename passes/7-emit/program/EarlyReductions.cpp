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
  /// Returns whether `collective` is an all_reduce or a reduce_scatter of its
  /// whole operand. A reduce_scatter of rows that masks select at run time
  /// (`rows`) cannot be split into a start and a finish.
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

  /// Appends `collective`, an op of a backward function, to `found` if it can
  /// start during the backward pass. An op of the same function must compute
  /// the operand of `collective`. With one microbatch, the function must use
  /// the result of `collective` only for the values that the function returns
  /// (isForUpdate()). With several microbatches, the function must only add the
  /// result of `collective` to a sum over microbatches, and return the sum
  /// (isForSum()).
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
  /// this result. A reduction of `value` cannot start early: the collective may
  /// run as a start and a finish, and `value` exists only after the finish.
  static bool communicates(Value value) {
    while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
      value = reshape->getOperand(0);
    return isa_and_nonnull<dist::CollectiveOp>(value.getDefiningOp());
  }

  /// Returns the value that `collective` reduces. If the input is a function
  /// argument, this is the result of another function that the pipeline passes
  /// to the argument. Returns null for an argument that gets no such result,
  /// for example an input of the model.
  static Value gradientOf(dist::CollectiveOp collective) {
    auto argument = dyn_cast<BlockArgument>(collective.getInput());
    return argument ? pipe::heldBy(argument) : collective.getInput();
  }

  /// Returns whether `collective`, an op of `function`, can start in the last
  /// run of the backward function that computes `gradient`. Returns false if
  /// `function` is no optimizer update, or if another op reads the complete
  /// gradient.
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

  /// Returns the last value of the chain of reshapes that starts at `value`.
  /// Each reshape must be the only op that reads its operand. Returns `value`
  /// if there is no such reshape.
  static Value lastReshape(Value value) {
    while (value.hasOneUse() && isa<graph::ReshapeOp>(*value.user_begin()))
      value = (*value.user_begin())->getResult(0);
    return value;
  }

  /// Returns whether the function needs `value` only for the values that the
  /// function returns. Each reader of `value` must be a `return` op, or an op
  /// whose results only `return` ops read. No reader may be a collective or a
  /// send. Reshapes do not count as readers; their readers do. Appends the
  /// readers that are not `return` ops to `readers`.
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

  /// Returns whether the only op that reads `value`, directly or through
  /// reshapes, is an addition for which isLastSum() returns true. The addition
  /// adds `value` to a sum over microbatches, which the function returns. If
  /// the result is true, appends the addition to `readers`.
  static bool isForSum(Value value, std::vector<Operation *> &readers) {
    value = lastReshape(value);
    if (!value.hasOneUse() || !isLastSum(*value.user_begin()))
      return false;
    readers.push_back(*value.user_begin());
    return true;
  }

  /// Returns whether `op` adds a value to a sum over microbatches, and only
  /// `return` ops read the new sum. An operand of `op` must be the function
  /// argument that holds the sum over the preceding microbatches.
  static bool isLastSum(Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [](Value operand) {
                          auto argument = dyn_cast<BlockArgument>(operand);
                          return argument && pipe::isAccumulator(argument);
                        }) &&
           llvm::all_of(op->getUsers(), llvm::IsaPred<func::ReturnOp>);
  }

  /// Returns whether `gradient` is complete after the last run of the backward
  /// function `maker`, and only `reader` gets the complete value. `reader` is
  /// an argument of the optimizer update. With several microbatches, `gradient`
  /// must be a sum: each run of `maker` adds the gradient of one microbatch to
  /// the sum that the previous run has returned.
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
  /// Arguments to which the pipeline passes the results of stage functions, by
  /// result. Example: a backward function returns a sum of gradients. The
  /// pipeline passes the sum to an argument of the optimizer update, and to an
  /// argument of the next run of the backward function.
  llvm::DenseMap<Value, llvm::SmallVector<BlockArgument, 2>> takers;
  OverlapGroups groups;
  std::vector<EarlyReduction> found;
};
} // namespace

std::vector<EarlyReduction> emit::findEarlyReductions(ModelFacts &facts) {
  return EarlyReductionFinder(facts).run();
}
