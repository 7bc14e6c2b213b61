//===- StepParts.cpp - forward, backward and update parts of a step -------===//

#include "dialects/graph/StepParts.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace pcc::graph;

bool pcc::graph::isTraining(Block &block) {
  return !block.getOps<SetParameterOp>().empty();
}

/// Returns the earliest part of a training step in which `op` may run,
/// regardless of its operands.
static StepPart ownPart(Operation *op) {
  if (isa<LossGradientOp>(op))
    return StepPart::Backward;
  return op->hasTrait<IsUpdate>() ? StepPart::Update : StepPart::Forward;
}

/// Returns the part of a training step to which a forward op moves if only
/// `reader` reads its results. `accumulate` needs a value from each microbatch,
/// so the op stays in the forward pass. The terminator reads values once per
/// step, so the op moves to the update.
StepPart StepParts::partOfReader(Operation *reader) const {
  if (reader->hasTrait<OpTrait::IsTerminator>())
    return StepPart::Update;
  return isa<AccumulateOp>(reader) ? StepPart::Forward : of(reader);
}

bool pcc::graph::isReproducible(Operation *op) {
  return op->getParentOfType<ModuleOp>()->hasAttr(reproducibleName);
}

StepParts::StepParts(Block &block, Filter mayWait) {
  // Assign each op to the earliest part of the training step in which the op
  // and all producers of its operands may run.
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
