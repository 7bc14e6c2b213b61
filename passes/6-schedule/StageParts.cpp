//===- StageParts.cpp - assignment of ops to functions of a stage ---------===//

#include "passes/6-schedule/StageParts.h"

#include <map>

using namespace mlir;
using namespace pcc;
using namespace pcc::schedule;
using graph::StepPart;

/// Returns whether a forward op may move to the backward pass or the update if
/// only these read its results. A transfer may not move: it must send its value
/// to the other stage at once.
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

// The level of an op is the index of its part of the update (2 for U2). An op
// can run only after all transfers on the paths to it, so its lowest level is
// the largest number of transfers on one path.
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

// Visits the readers of an op before the op, because the op moves to the part
// of its earliest reader. Transfers and model outputs do not move.
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

// A write must come after all reads of the parameter, which several stages may
// share:
// - It is in a later part (function) than reads by other stages.
// - It may be in the part of reads by its own stage, because a function writes
//   at its end.
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
