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
/// Finds the values that depend on the gradient of the loss. A value depends on
/// this gradient in each of these cases:
///
/// - The value is the result of the op `graph.loss_gradient`, the start of the
///   backward pass.
/// - The value is received from another stage in the backward pass.
/// - The value is a result of an op with an operand that depends on the
///   gradient of the loss.
/// - The value is a function argument that takes a result of another function,
///   and this result depends on the gradient of the loss. The attribute
///   `pipe.held` of the argument names the other function and its result.
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

/// Returns whether to move `op` right before its first reader: it is a pure op
/// of the backward pass that does not depend on the loss gradient.
static bool waitsForReader(Operation *op, LossDependence &dependence) {
  return runsInBackward(op) && isPure(op) && !op->use_empty() &&
         !dependence.contains(op->getResult(0));
}

/// Moves `sum`, a `graph.accumulate`, up in its function. `sum` moves right
/// after the op that computes a gradient. Ops with one operand can stand
/// between this op and `sum`, such as a reduce_scatter of the gradient. These
/// ops move together with `sum`. Example:
///
///   before   g = matmul x, d;  e = exp d;  r = reduce_scatter g;  accumulate r
///   after    g = matmul x, d;  r = reduce_scatter g;  accumulate r;  e = exp d
///
/// The function finds the op that computes the gradient by going backwards from
/// `sum`. The function skips each op that has one operand, has one reader, is
/// pure and belongs to the backward pass. The first op that is not skipped is
/// the op that computes the gradient. Moves nothing if this op is a constant or
/// the read of a weight, or does not belong to the backward pass. Returns the
/// number of moved ops.
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

  /// Reorders the ops of `stage`, one function of a pipeline stage. The order
  /// changes in two steps:
  ///
  /// 1. Some ops move down. An op moves down if it is a pure op of the backward
  ///    pass, has a reader, and does not depend on the gradient of the loss.
  ///    The op moves right before the first op that reads its result. For
  ///    example, op c is the only reader of op b, and b is the only reader of
  ///    op a. First, b moves right before c. Then a moves right before b.
  /// 2. Each `graph.accumulate` moves up, right after the op that computes its
  ///    operand. The operand usually is the gradient of a weight. The operand
  ///    can also be a reduce_scatter of the gradient. In this case, the
  ///    reduce_scatter also moves up, right after the op that computes the
  ///    gradient. If the gradient is not computed in the backward pass, no op
  ///    moves up. See moveToGradient().
  ///
  /// `dependence` tells which values depend on the gradient of the loss.
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
