//===- Hoist.cpp - loop-invariant hoisting out of the microbatch loop -----===//

#include "passes/plan/memory/Hoist.h"

namespace pcc::plan {

/// Returns whether the results of `op` should be kept in memory for the whole
/// step rather than recomputed in every microbatch. False for a view, and for
/// an op whose results differ between microbatches.
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
  // Visit the ops in reverse, so that all readers of a result are decided
  // before its op. Skip a shared op (equal in all microbatches) if the
  // microbatches do not need its results. They need not be held, so they do not
  // use up the budget `maxHeldBytes`.
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
  // If an op runs once per step, the ops that produce its operands must run
  // once per step, too.
  for (size_t i = ops.size(); i-- > 0;)
    if (result.runsOnce[i])
      mark(ops[i], result.runsOnce);
  return result;
}

} // namespace pcc::plan
