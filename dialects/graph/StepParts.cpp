//===- StepParts.cpp - forward, backward and update parts of a step -------===//

#include "dialects/graph/StepParts.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace pcc::graph;

bool pcc::graph::isTraining(Block &block) {
  return !block.getOps<SetParameterOp>().empty();
}

/// Returns the earliest part of a training step in which `op` may run according
/// to its own kind. Its operands, which are ignored here, may require a later
/// part.
static StepPart ownPart(Operation *op) {
  if (isa<LossGradientOp>(op))
    return StepPart::Backward;
  return op->hasTrait<IsUpdate>() ? StepPart::Update : StepPart::Forward;
}

/// Returns the part of a training step in which `reader` needs its operands:
///
///   accumulate     Forward, because it adds its operand in each microbatch
///   terminator     Update, which ends the step
///   any other op   the part in which that op runs
StepPart StepParts::partOfReader(Operation *reader) const {
  if (reader->hasTrait<OpTrait::IsTerminator>())
    return StepPart::Update;
  return isa<AccumulateOp>(reader) ? StepPart::Forward : of(reader);
}

bool pcc::graph::isReproducible(Operation *op) {
  return op->getParentOfType<ModuleOp>()->hasAttr(reproducibleName);
}

StepParts::StepParts(Block &block, Filter mayWait) {
  // Assign each op to the earliest part in which it may run. No op runs in an
  // earlier part than its operands.
  for (Operation &op : block.without_terminator()) {
    StepPart part = ownPart(&op);
    for (Value operand : op.getOperands())
      part = std::max(part, of(operand));
    parts[&op] = part;
  }
  if (!isTraining(block))
    return;
  // Move each forward op to the earliest part that reads its results. Visit in
  // reverse order, so that all readers of an op have their final parts.
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (op.use_empty() || parts[&op] != StepPart::Forward || !mayWait(&op))
      continue;
    StepPart earliest = StepPart::Update;
    for (Operation *user : op.getUsers())
      earliest = std::min(earliest, partOfReader(user));
    parts[&op] = earliest;
  }
}
