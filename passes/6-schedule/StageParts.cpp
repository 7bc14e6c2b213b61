//===- StageParts.cpp - assignment of ops to functions of a stage ---------===//

#include "passes/6-schedule/StageParts.h"

#include <map>

using namespace mlir;
using namespace pcc;
using namespace pcc::schedule;
using graph::StepPart;

/// Returns whether `op`, an op of the forward pass, may move to the backward
/// pass or to the weight update. The class StepParts moves an op if only the
/// backward pass or the weight update reads its results. A transfer sends a
/// value from one pipeline stage to another. A transfer must not move, so that
/// the other stage receives the value during the forward pass.
static bool mayWait(Operation *op) { return !isa<pipe::TransferOp>(op); }

StageParts::StageParts(Block &block) : step(block, mayWait) {
  findEarliest(block);
  delay(block);
  writeLast(block);
}

int64_t StageParts::of(Operation *op) const {
  if (step.of(op) == StepPart::Update)
    return updatePart + levels.lookup(op);
  return step.of(op) == StepPart::Backward ? backwardPart : forwardPart;
}

int64_t StageParts::ofArrival(Operation *transfer) const {
  return step.of(transfer) == StepPart::Update ? of(transfer) + 1
                                               : of(transfer);
}

// The weight update of a stage consists of the functions U0, U1 and so on. The
// level of an op is the number of the function that runs the op: 2 for U2. A
// value that one stage sends in U0 arrives at another stage in U1. The lowest
// possible level of an op is therefore the largest number of transfers between
// stages on a path to the op.
void StageParts::findEarliest(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (step.of(&op) != StepPart::Update)
      continue;
    int64_t level = 0;
    for (Value operand : op.getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && step.of(maker) == StepPart::Update)
        level = std::max(level,
                         levels.lookup(maker) + isa<pipe::TransferOp>(maker));
    levels[&op] = level;
  }
}

// Moves ops to the latest possible level. The level of an op is the number of
// the function of the weight update that runs the op: 2 for U2. The latest
// possible level is the lowest level of the ops that read its results. The loop
// visits these ops before the op, so their levels are final by then.
void StageParts::delay(Block &block) {
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (step.of(&op) != StepPart::Update || op.use_empty() ||
        isa<pipe::TransferOp>(op) ||
        llvm::is_contained(op.getUsers(), block.getTerminator()))
      continue;
    int64_t level = INT64_MAX;
    for (Operation *user : op.getUsers())
      level = std::min(level, levels.lookup(user));
    levels[&op] = level;
  }
}

// The level of an op is the number of the function of the weight update that
// runs the op: 1 for U1. One stage may run its U1 before another stage runs its
// U1. A write of a parameter must therefore have a higher level than any read
// of this parameter in another stage. A write and a read in the same stage may
// have the same level, because a function writes parameters at its end.
void StageParts::writeLast(Block &block) {
  std::map<StringRef, std::map<int64_t, int64_t>> lastReads;
  for (auto get : block.getOps<graph::GetParameterOp>())
    for (Operation *user : get->getUsers())
      if (step.of(user) == StepPart::Update) {
        int64_t &last = lastReads[get.getParameter()][pipe::stageOf(get)];
        last = std::max(last, levels.lookup(user));
      }
  for (auto set : block.getOps<graph::SetParameterOp>())
    for (auto [stage, last] : lastReads[set.getParameter()]) {
      const bool isOwn = stage == pipe::stageOf(set);
      levels[set] = std::max(levels[set], isOwn ? last : last + 1);
    }
}
