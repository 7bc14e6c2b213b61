//===- Hoist.h - what a stage runs once for all microbatches --------------===//

#ifndef PCC_PASSES_PLAN_MEMORY_HOIST_H
#define PCC_PASSES_PLAN_MEMORY_HOIST_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace pcc::plan {

/// One op of a stage, of one microbatch.
struct StageOp {
  /// The ops that make its operands, by number: all come before it.
  std::vector<int> operands;
  /// Its results are the same in every microbatch; so are its operands then.
  bool isShared = false;
  bool communicates = false;
  /// It makes another view of its operand, which readers look through, or is a
  /// weight or constant.
  bool isView = false;
  /// The stage returns its result.
  bool isOutput = false;
  int64_t readBytes = 0;
  int64_t resultBytes = 0;
};

/// Which ops run when; an op may run both ways, or not at all if nobody needs
/// it. What is held is made once and read by those that run for each
/// microbatch.
struct Hoisting {
  std::vector<bool> runsOnce, runsEach, isHeld;
};

/// Decides what is held through a step:
///  - what was received, since receiving it again costs its bytes again;
///  - what was computed, if it takes no more room than what it was computed
///    from; else (a mask made of a row and a column) it is cheaper to make than
///    to keep;
///  - no mere view, and nothing that does not fit into `maxHeldBytes` beside
///    what is needed later in the program.
/// Ops that are needed for held results alone run once.
///
///     w ── all_gather ── transpose ──┐           once   w, all_gather
///     constant ── compare ── select ─┴─ matmul   each   the others
///                             x ──────┘          held   all_gather
Hoisting
chooseHoisting(const std::vector<StageOp> &ops,
               int64_t maxHeldBytes = std::numeric_limits<int64_t>::max());

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_HOIST_H
