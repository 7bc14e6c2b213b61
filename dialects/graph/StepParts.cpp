//===- StepParts.cpp - forward, backward and update parts of a step -------===//

#include "dialects/graph/StepParts.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace pcc::graph;

bool pcc::graph::isTraining(Block &block) {
  return !block.getOps<SetParameterOp>().empty();
}

/// Returns the part of a training step (forward, backward or update) to which
/// the kind of `op` assigns it, without regard to its operands.
static StepPart ownPart(Operation *op) {
  if (isa<LossGradientOp>(op))
    return StepPart::Backward;
  return op->hasTrait<IsUpdate>() ? StepPart::Update : StepPart::Forward;
}

/// Returns the part of a training step in which `reader` needs its operands of
/// the forward part. An accumulate op needs its operand in each microbatch,
/// hence in the forward part. The terminator needs its operands at the end of
/// the step, hence in the update.
StepPart StepParts::partOfReader(Operation *reader) const {
  if (reader->hasTrait<OpTrait::IsTerminator>())
    return StepPart::Update;
  return isa<AccumulateOp>(reader) ? StepPart::Forward : of(reader);
}

bool pcc::graph::isReproducible(Operation *op) {
  return op->getParentOfType<ModuleOp>()->hasAttr(reproducibleName);
}

StepParts::StepParts(Block &block, Filter mayWait) {
  // Assign each op to its own part, or to that of its latest operand if that
  // part runs later.
  for (Operation &op : block.without_terminator()) {
    StepPart part = ownPart(&op);
    for (Value operand : op.getOperands())
      part = std::max(part, of(operand));
    parts[&op] = part;
  }
  if (!isTraining(block))
    return;
  // Delay forward ops. In reverse order the readers of an op come first, so
  // that a whole chain of ops can be delayed.
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (op.use_empty() || parts[&op] != StepPart::Forward || !mayWait(&op))
      continue;
    StepPart earliest = StepPart::Update;
    for (Operation *user : op.getUsers())
      earliest = std::min(earliest, partOfReader(user));
    parts[&op] = earliest;
  }
}
