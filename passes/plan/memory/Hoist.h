//===- Hoist.h - loop-invariant hoisting out of the microbatch loop -------===//
//
// Chooses which ops of a stage run once per step rather than once per
// microbatch, and which of their results stay in memory for the whole step. An
// all-gather of a sharded weight is the main case: hoisted, it communicates
// once per step, but the gathered weight occupies memory until the step ends.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_MEMORY_HOIST_H
#define PCC_PASSES_PLAN_MEMORY_HOIST_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace pcc::plan {

/// One op of a pipeline stage. Byte counts are local to one rank and one
/// microbatch.
struct StageOp {
  /// Indices of the ops that produce the operands, all smaller than that of
  /// this op. Function arguments are left out.
  std::vector<int> operands;
  /// Whether the results are equal in all microbatches. All operands must then
  /// be equal, too.
  bool isShared = false;
  /// Whether the op communicates.
  bool communicates = false;
  /// Whether the op costs nothing to repeat: a view (reshape, transpose,
  /// slice), a weight or a constant. Its results are never held in memory.
  bool isView = false;
  /// Whether the stage returns a result of the op.
  bool isOutput = false;
  /// `readBytes`: bytes of all operands of the op together. `resultBytes`:
  /// bytes of all its results together.
  int64_t readBytes = 0;
  int64_t resultBytes = 0;
};

/// For each op of a stage: whether it runs once per step, in every microbatch,
/// or both. For example, a weight runs both ways if its all-gather runs once
/// per step and another op reads the weight in every microbatch.
struct Hoisting {
  /// Flags by op. `runsOnce`: it runs once per step. `runsEach`: it runs in
  /// every microbatch. `isHeld`: its results stay in memory for the whole step;
  /// it then runs only once.
  std::vector<bool> runsOnce, runsEach, isHeld;
};

/// Chooses the ops that run once per step, and the ops whose results stay in
/// memory for the whole step (held). An op is held under these conditions:
///
///  - Its results are equal in all microbatches.
///  - It communicates, or its results are at most as large as its operands.
///    Larger results, such as a mask from a row and a column, are cheaper to
///    recompute.
///  - It is no view, such as a reshape.
///  - Its results fit into the budget `maxHeldBytes`. Ops at the end of the
///    stage use the budget first.
///
/// Held ops, and ops that compute their operands, run once per step. Example
/// with a weight w:
///
///     w ── all_gather ── transpose ──┐
///     x ─────────────────────────────┴── matmul
///
///     once per step       w, all_gather (held)
///     every microbatch    transpose, matmul
Hoisting
chooseHoisting(const std::vector<StageOp> &ops,
               int64_t maxHeldBytes = std::numeric_limits<int64_t>::max());

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_HOIST_H
