//===- OrderBackward.cpp - when ops of the backward pass run --------------===//

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
/// What depends on the loss: on the gradient that it begins with, here, in what
/// all microbatches share, or on another stage.
class LossDependence {
public:
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

  DenseMap<Block *, DenseSet<Value>> behindLoss;
};
} // namespace

static void moveToFirstReader(Operation *op) {
  Operation *first = *op->user_begin();
  if (!op->hasOneUse()) // to compare places is slow behind a move
    for (Operation *user : op->getUsers())
      if (user->isBeforeInBlock(first))
        first = user;
  op->moveBefore(first);
}

static bool waitsForReader(Operation *op, LossDependence &dependence) {
  return runsInBackward(op) && isPure(op) && !op->use_empty() &&
         !dependence.contains(op->getResult(0));
}

/// Moves what leads from a gradient to its sum, and does nothing else, to where
/// the gradient is made. Returns the number of ops that it moves.
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

  LogicalResult checkHeld(func::FuncOp stage) {
    for (BlockArgument argument : stage.getArguments())
      if (auto held = pipe::heldOf(argument); held && !pipe::heldBy(argument))
        return stage.emitError()
               << "argument " << argument.getArgNumber() << " takes result "
               << held->result << " of '" << held->by << "', which has none";
    return success();
  }

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
