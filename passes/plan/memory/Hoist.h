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
  /// Ops that produce the operands of this op, as indices into the list of ops.
  /// The indices are smaller than the index of this op. An operand that is an
  /// argument of the function has no entry, because no op produces it.
  std::vector<int> operands;
  /// Whether the op computes the same results in all microbatches. If the flag
  /// is true for an op, the flag must be true for all ops that compute its
  /// operands.
  bool isShared = false;
  /// Whether the op communicates.
  bool communicates = false;
  /// Whether the op costs nothing to repeat. True for a view (reshape,
  /// transpose, slice), and for an op whose result is a weight or a constant.
  /// The function chooseHoisting never decides to hold the results of such an
  /// op in memory for the whole step.
  bool isView = false;
  /// Whether the stage returns a result of the op.
  bool isOutput = false;
  /// `readBytes`: bytes of all operands of the op together. `resultBytes`:
  /// bytes of all its results together.
  int64_t readBytes = 0;
  int64_t resultBytes = 0;
};

/// Decision for each op of a stage: whether the op runs once per step, in every
/// microbatch, or both. Example of both: op 0 reads a weight from memory. Op 1
/// is an all-gather of the weight and runs once per step. Op 2 multiplies by
/// the weight and runs in every microbatch. Op 0 then runs once per step,
/// before op 1, and also runs in every microbatch, before op 2.
struct Hoisting {
  /// Flags for each op of the stage. `runsOnce`: the op runs once per step.
  /// `runsEach`: the op runs in every microbatch. One, both or neither of these
  /// two can be true. `isHeld`: the results of the op stay in memory for the
  /// whole step. If `isHeld` is true, `runsOnce` is true and `runsEach` is
  /// false.
  std::vector<bool> runsOnce, runsEach, isHeld;
};

/// Chooses which ops run once per step, and which results are held in memory
/// for the whole step. The results of an op are held only if all conditions
/// hold:
///
/// - The op computes the same results in all microbatches.
/// - The op is no view, and its result is no weight or constant (`isView`).
/// - The op communicates, or its results are not larger than its operands.
/// - The results fit in `maxHeldBytes`, together with the held results of the
///   ops after this op.
Hoisting
chooseHoisting(const std::vector<StageOp> &ops,
               int64_t maxHeldBytes = std::numeric_limits<int64_t>::max());

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_HOIST_H
