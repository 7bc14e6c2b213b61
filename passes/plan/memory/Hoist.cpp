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
  // This loop decides for each op whether its results stay in memory for the
  // whole step ("held"). All held results together must have at most
  // `maxHeldBytes` bytes. A shared op has equal results in all microbatches.
  // Only a shared op can be held.
  //
  // The loop visits the ops in reverse, so the readers of op i come before op
  // i. A reader that runs in every microbatch sets result.runsEach[i] to true.
  // If a shared op i is not an output and result.runsEach[i] is still false, no
  // microbatch reads its results. Op i is then not held, so that more of
  // `maxHeldBytes` is left for other ops.
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
