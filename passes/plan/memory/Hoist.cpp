//===- Hoist.cpp - loop-invariant hoisting out of the microbatch loop -----===//

#include "passes/plan/memory/Hoist.h"

namespace pcc::plan {

/// Returns whether to keep the results of `op` for the whole step rather than
/// recompute them in every microbatch.
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
  // This loop decides which ops are held: a held op runs once per step, and its
  // results stay in memory for the whole step. `left` is the number of bytes
  // that are still free for held results. The loop must visit an op after the
  // ops that read its results, because mark() sets `runsEach` for the operands.
  // The `continue` skips an op whose results are equal in all microbatches, if
  // the stage does not return these results, and if no op that runs in every
  // microbatch reads them.
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
  // If an op runs once per step, the ops that produce its operands must also
  // run once per step. The loop visits the ops in reverse. It therefore visits
  // an op before the ops that produce the operands of the op.
  for (size_t i = ops.size(); i-- > 0;)
    if (result.runsOnce[i])
      mark(ops[i], result.runsOnce);
  return result;
}

} // namespace pcc::plan
