//===- Hoist.cpp - loop-invariant hoisting out of the microbatch loop -----===//

#include "passes/plan/memory/Hoist.h"

namespace pcc::plan {

/// Returns whether it is better to keep the results of `op` in memory for the
/// whole step than to recompute them in every microbatch.
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
  // Ops are visited in reverse, so all readers of a result are decided before
  // its op. A shared op whose results no op reads in the microbatches is
  // skipped here: its results need not be held, so they must not use up the
  // budget.
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
  // An op whose result is an operand of an op that runs once must run once,
  // too.
  for (size_t i = ops.size(); i-- > 0;)
    if (result.runsOnce[i])
      mark(ops[i], result.runsOnce);
  return result;
}

} // namespace pcc::plan
