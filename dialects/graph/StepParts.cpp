//===- StepParts.cpp - forward, backward and update parts of a step -------===//

#include "dialects/graph/StepParts.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace pcc::graph;

bool pcc::graph::isTraining(Block &block) {
  return !block.getOps<SetParameterOp>().empty();
}

/// Returns the part of a training step (forward, backward or update) that the
/// kind of `op` alone implies. The operands of `op` may move it to a later
/// part.
static StepPart ownPart(Operation *op) {
  if (isa<LossGradientOp>(op))
    return StepPart::Backward;
  return op->hasTrait<IsUpdate>() ? StepPart::Update : StepPart::Forward;
}

/// Returns the earliest part of a training step in which `reader` needs its
/// operands that are computed in the forward part. An accumulate op needs its
/// operand in each microbatch, so it returns Forward. The terminator needs its
/// operands at the end of the step, so it returns Update. Any other op needs
/// its operands in its own part.
StepPart StepParts::partOfReader(Operation *reader) const {
  if (reader->hasTrait<OpTrait::IsTerminator>())
    return StepPart::Update;
  return isa<AccumulateOp>(reader) ? StepPart::Forward : of(reader);
}

bool pcc::graph::isReproducible(Operation *op) {
  return op->getParentOfType<ModuleOp>()->hasAttr(reproducibleName);
}

StepParts::StepParts(Block &block, Filter mayWait) {
  // Assign each op to the part that its kind implies. If an operand is computed
  // in a later part, assign the op to that part instead.
  for (Operation &op : block.without_terminator()) {
    StepPart part = ownPart(&op);
    for (Value operand : op.getOperands())
      part = std::max(part, of(operand));
    parts[&op] = part;
  }
  if (!isTraining(block))
    return;
  // Delay forward ops whose results only later parts read. Visit the ops in
  // reverse order, so that all readers of an op have been delayed before the op
  // itself.
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (op.use_empty() || parts[&op] != StepPart::Forward || !mayWait(&op))
      continue;
    StepPart earliest = StepPart::Update;
    for (Operation *user : op.getUsers())
      earliest = std::min(earliest, partOfReader(user));
    parts[&op] = earliest;
  }
}
