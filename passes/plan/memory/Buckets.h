//===- Buckets.h - bucketing of small collectives into one call -----------===//
//
// Packs collectives of one kind into a bucket that a single call executes, as
// gradient bucketing does in PyTorch DDP (Li et al. 2020). A bucket saves the
// latency of all calls but one and costs the copies into and out of it.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_MEMORY_BUCKETS_H
#define PCC_PASSES_PLAN_MEMORY_BUCKETS_H

#include <cstddef>
#include <vector>

namespace pcc::plan {

/// One collective op of a function. One call may execute several collectives.
struct CollectiveCall {
  /// Number that stands for the collective's type (such as all-reduce), group
  /// of ranks, element type and reduction. Only collectives with equal numbers
  /// can share a call.
  size_t kind = 0;
  /// Index of the collective among the ops of the function.
  size_t place = 0;
  /// Index of the first op that reads the result of the collective, among the
  /// ops of the function.
  size_t firstUse = 0;
};

/// Groups collectives of one kind into buckets of two or more. One call
/// executes a bucket at the place of its last collective, so no earlier op may
/// read a result of the bucket. `calls` must be sorted by `place`. Returns
/// ascending indices into `calls`.
std::vector<std::vector<size_t>>
formBuckets(const std::vector<CollectiveCall> &calls);

/// Latency of one call of a collective, in seconds. The function
/// isWorthPacking() uses this latency if its parameter `callSeconds` is 0. The
/// parameter is 0 if the description of the cluster contains no latency.
inline constexpr double assumedCallSeconds = 5e-6;

/// Returns whether one call should execute this collective together with other
/// collectives. One call for several collectives needs two copies for each of
/// them: of the operand into a common buffer, and of the result out of a common
/// buffer. These copies must take at most half of `callSeconds`, the latency
/// that is saved. If `callSeconds` is 0, uses `assumedCallSeconds`.
bool isWorthPacking(double operandBytes, double resultBytes, double callSeconds,
                    double memoryBytesPerSecond);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_BUCKETS_H
