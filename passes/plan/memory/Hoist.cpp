//===- Hoist.cpp - what a stage runs once for all microbatches ------------===//

#include "passes/plan/memory/Hoist.h"

namespace pcc::plan {

static bool isWorthHolding(const StageOp &op) {
  if (!op.isShared || op.isView)
    return false;
  return op.communicates || op.resultBytes <= op.readBytes;
}

static void mark(const StageOp &op, std::vector<bool> &needed) {
  for (int operand : op.operands)
    needed[operand] = true;
}

Hoisting chooseHoisting(const std::vector<StageOp> &ops, int64_t maxHeldBytes) {
  const std::vector<bool> none(ops.size());
  Hoisting result{none, none, none};
  int64_t left = maxHeldBytes;
  // Readers first: what none of them needs in every microbatch takes no room.
  for (size_t i = ops.size(); i-- > 0;) {
    const StageOp &op = ops[i];
    if (op.isShared && !op.isOutput && !result.runsEach[i])
      continue;
    result.isHeld[i] = isWorthHolding(op) && op.resultBytes <= left;
    result.runsOnce[i] = result.isHeld[i];
    result.runsEach[i] = !result.isHeld[i];
    if (result.isHeld[i])
      left -= op.resultBytes;
    else
      mark(op, result.runsEach);
  }
  for (size_t i = ops.size(); i-- > 0;)
    if (result.runsOnce[i])
      mark(ops[i], result.runsOnce);
  return result;
}

} // namespace pcc::plan
