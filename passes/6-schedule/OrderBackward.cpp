//===- OrderBackward.cpp - order of ops in the backward pass --------------===//
//
// Shortens the live ranges of values in the backward pass. Ops that could run
// early because they do not depend on the loss are delayed to their first
// reader (such as the re-gather of a weight). The reduction of a gradient is
// moved up to the op that computes the gradient. The reduction then overlaps
// with the rest of the backward pass, and the unreduced gradient can be freed
// early.
//
//===----------------------------------------------------------------------===//

#include "passes/6-schedule/Passes.h"
#include "passes/6-schedule/StageParts.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "order-backward"

namespace pcc::schedule {
#define GEN_PASS_DEF_ORDERBACKWARD
#include "passes/6-schedule/Passes.h.inc"
} // namespace pcc::schedule

using namespace mlir;
using namespace pcc;
using namespace pcc::schedule;

namespace {
/// Finds the values that depend on the gradient of the loss: results of
/// `graph.loss_gradient`, values received in the backward pass, and all values
/// computed from them. The dependence crosses functions: the attribute
/// `pipe.held` names the result of another function that an argument takes.
class LossDependence {
public:
  /// Returns whether `value` depends on the gradient of the loss.
  bool contains(Value value) {
    Block *body = value.getParentBlock();
    auto [entry, isNew] = behindLoss.try_emplace(body);
    if (isNew) {
      DenseSet<Value> found = find(*body);
      behindLoss[body] = std::move(found);
    }
    return behindLoss[body].contains(value);
  }

private:
  /// Returns the values of a function body that depend on the loss gradient.
  DenseSet<Value> find(Block &body) {
    DenseSet<Value> found;
    for (BlockArgument argument : body.getArguments())
      if (Value made = pipe::heldBy(argument); made && contains(made))
        found.insert(argument);
    for (Operation &op : body) {
      const bool arrives = isa<pipe::ReceiveOp>(op) && runsInBackward(&op);
      if (arrives || isa<graph::LossGradientOp>(op) ||
          llvm::any_of(op.getOperands(),
                       [&](Value operand) { return found.contains(operand); }))
        found.insert(op.result_begin(), op.result_end());
    }
    return found;
  }

  /// For each function body, the values that depend on the loss gradient.
  DenseMap<Block *, DenseSet<Value>> behindLoss;
};
} // namespace

/// Moves `op` right before its first reader. `op` must have a reader.
static void moveToFirstReader(Operation *op) {
  Operation *first = *op->user_begin();
  // If `op` has several readers, isBeforeInBlock() compares their positions in
  // the block. This comparison is slow, because the first comparison after each
  // move numbers all ops of the block again. If `op` has only one reader, the
  // comparison is not needed.
  if (!op->hasOneUse())
    for (Operation *user : op->getUsers())
      if (user->isBeforeInBlock(first))
        first = user;
  op->moveBefore(first);
}

/// Returns whether `op` should move right before its first reader. True for a
/// pure op of the backward pass that has a reader and does not depend on the
/// loss gradient.
static bool waitsForReader(Operation *op, LossDependence &dependence) {
  return runsInBackward(op) && isPure(op) && !op->use_empty() &&
         !dependence.contains(op->getResult(0));
}

/// Moves `sum`, which accumulates a gradient, right after the op that computes
/// the gradient. Unary pure ops between the two, such as a reduce-scatter, move
/// along. Moves nothing if the gradient is a constant, a weight, or computed
/// outside the backward pass. Returns the number of moved ops.
static size_t moveToGradient(graph::AccumulateOp sum) {
  SmallVector<Operation *> way{sum};
  Operation *maker = sum.getInput().getDefiningOp();
  while (maker && runsInBackward(maker) && maker->getNumOperands() == 1 &&
         maker->hasOneUse() && isPure(maker)) {
    way.push_back(maker);
    maker = maker->getOperand(0).getDefiningOp();
  }
  if (!maker || !runsInBackward(maker) || isSourceOp(maker))
    return 0;
  for (Operation *op : way)
    op->moveAfter(maker);
  return way.size();
}

namespace {
struct OrderBackward : pcc::schedule::impl::OrderBackwardBase<OrderBackward> {
  void runOnOperation() override {
    LossDependence dependence;
    for (auto stage : getOperation().getOps<func::FuncOp>()) {
      if (stage.isDeclaration())
        continue;
      if (failed(checkHeld(stage)))
        return signalPassFailure();
      run(stage, dependence);
    }
  }

  /// Checks the attribute `pipe.held` of the arguments of the function `stage`.
  /// The attribute contains the symbol of a function and the index of a result
  /// of this function. The argument takes the value of this result. Emits an
  /// error and fails if the function or the result does not exist.
  LogicalResult checkHeld(func::FuncOp stage) {
    for (BlockArgument argument : stage.getArguments())
      if (auto held = pipe::heldOf(argument); held && !pipe::heldBy(argument))
        return stage.emitError() << "argument " << argument.getArgNumber()
                                 << " takes result " << held->result << " of '"
                                 << held->by << "', which does not exist";
    return success();
  }

  /// Reorders the ops of the pipeline stage `stage`. First, some ops move down,
  /// right before the first op that reads them: pure ops of the backward pass
  /// that have a reader and do not depend on the gradient of the loss. The loop
  /// runs in reverse order, because a reader must move before the op that it
  /// reads. Then each `graph.accumulate` moves up, right after the op that
  /// computes its gradient.
  void run(func::FuncOp stage, LossDependence &dependence) {
    SmallVector<Operation *> waiting;
    for (Operation &op : stage.front().without_terminator())
      if (waitsForReader(&op, dependence))
        waiting.push_back(&op);
    for (Operation *op : llvm::reverse(waiting))
      moveToFirstReader(op);
    size_t raised = 0;
    for (auto sum : llvm::to_vector(stage.getOps<graph::AccumulateOp>()))
      raised += moveToGradient(sum);
    LDBG() << stage.getName() << ": " << waiting.size() << " ops wait, "
           << raised << " go to a gradient";
  }
};
} // namespace
