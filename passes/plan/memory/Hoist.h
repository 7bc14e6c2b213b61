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
  /// Indices of the ops that produce the operands. All are smaller than the
  /// index of this op; function arguments are left out.
  std::vector<int> operands;
  /// Whether the results are equal in all microbatches. An op can be shared
  /// only if the ops that produce its operands are shared.
  bool isShared = false;
  /// Whether the op communicates.
  bool communicates = false;
  /// Whether the op is free to repeat: a view of its operand (reshape,
  /// transpose, slice), a weight or a constant. Results of such an op are never
  /// held (kept in memory for the whole step).
  bool isView = false;
  /// Whether the stage returns a result of the op.
  bool isOutput = false;
  /// Bytes of all operands together, and bytes of all results together.
  int64_t readBytes = 0;
  int64_t resultBytes = 0;
};

/// For each op of a stage, whether it runs once per step, in every microbatch,
/// or both. For example, a weight runs both ways if its gathered copy is held
/// (kept for the whole step) and an op of the microbatches reads the weight
/// itself. An op whose results no op needs does not run.
struct Hoisting {
  /// Three flags for each op. `runsOnce`: the op runs once per step.
  /// `runsEach`: it runs in every microbatch. `isHeld`: its results are held,
  /// that is, stay in memory for the whole step. A held op runs once per step
  /// and not in the microbatches.
  std::vector<bool> runsOnce, runsEach, isHeld;
};

/// Chooses the ops whose results are held (stay in memory) for the whole step:
///
///  - A shared result (equal in all microbatches) of communication is held,
///    because communicating again costs as much again.
///  - A shared result of computation is held if it is at most as large as the
///    operands of its op. A larger result, such as a mask computed from a row
///    and a column, is cheaper to recompute than to keep.
///  - A view is not held.
///  - A result that is larger than what is left of the budget `maxHeldBytes` is
///    not held. Ops at the end of the stage use the budget first.
///
/// An op that is needed only to compute held results runs once per step.
///
///     w ── all_gather ── transpose ──┐           once   w, all_gather
///     constant ── compare ── select ─┴─ matmul   each   the others
///                             x ──────┘          held   all_gather
Hoisting
chooseHoisting(const std::vector<StageOp> &ops,
               int64_t maxHeldBytes = std::numeric_limits<int64_t>::max());

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_HOIST_H
