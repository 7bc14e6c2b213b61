//===- StepParts.cpp - forward, backward and update parts of a step -------===//

#include "dialects/graph/StepParts.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace pcc::graph;

bool pcc::graph::isTraining(Block &block) {
  return !block.getOps<SetParameterOp>().empty();
}

/// Returns the earliest part of a training step in which `op` may run. The
/// function looks only at the name of `op`. The operands of `op` may require a
/// later part.
///
///   op                             earliest part
///   loss_gradient                  backward pass
///   accumulate and set_parameter   update of the weights
///   any other op                   forward pass
static StepPart ownPart(Operation *op) {
  if (isa<LossGradientOp>(op))
    return StepPart::Backward;
  return op->hasTrait<IsUpdate>() ? StepPart::Update : StepPart::Forward;
}

/// Returns the part of a training step to which an op X moves if the op
/// `reader` is the only op that reads a result of X. X is an op of the forward
/// pass. Forward and Backward run once per microbatch. Update runs once per
/// step, after all microbatches.
///
///   reader                part
///   accumulate            Forward: X does not move, because `accumulate` needs
///                         a result of X from each microbatch
///   function terminator   Update, because the terminator ends the step
///   any other op          the part in which `reader` runs
StepPart StepParts::partOfReader(Operation *reader) const {
  if (reader->hasTrait<OpTrait::IsTerminator>())
    return StepPart::Update;
  return isa<AccumulateOp>(reader) ? StepPart::Forward : of(reader);
}

bool pcc::graph::isReproducible(Operation *op) {
  return op->getParentOfType<ModuleOp>()->hasAttr(reproducibleName);
}

StepParts::StepParts(Block &block, Filter mayWait) {
  // A training step has three parts, in this order: forward pass, backward pass
  // and update of the weights. Assign each op to the earliest part that these
  // rules permit:
  //
  // - The op loss_gradient must not be in the forward pass.
  // - The ops accumulate and set_parameter must be in the update.
  // - An op must not be in an earlier part than an op that computes one of its
  //   operands.
  //
  // For example, a multiplication by the result of loss_gradient is in the
  // backward pass. An add that depends on neither loss_gradient nor accumulate
  // is in the forward pass.
  for (Operation &op : block.without_terminator()) {
    StepPart part = ownPart(&op);
    for (Value operand : op.getOperands())
      part = std::max(part, of(operand));
    parts[&op] = part;
  }
  if (!isTraining(block))
    return;
  // Move each op of the forward pass to the earliest part of the training step
  // in which another op reads a result of the op. For example, the op moves to
  // the backward pass if only ops of the backward pass read its results. Visit
  // the ops from last to first, so that all readers of an op move before the
  // op.
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (op.use_empty() || parts[&op] != StepPart::Forward || !mayWait(&op))
      continue;
    StepPart earliest = StepPart::Update;
    for (Operation *user : op.getUsers())
      earliest = std::min(earliest, partOfReader(user));
    parts[&op] = earliest;
  }
}
