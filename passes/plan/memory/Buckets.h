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

/// One collective op of a function, which may share a call with others.
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

/// Divides collectives into buckets. A bucket has two or more collectives of
/// one kind, which one call executes at the place of the last of them. No op
/// before that place may read a result of the bucket. `calls` must be sorted by
/// `place`. A bucket of the result is a list of ascending indices into `calls`.
/// Example:
///
///     place   0   1   2   3   4   5
///     call    a   b       c   d            buckets {a, b} and {c, d}
///     reads           a           b, c, d
std::vector<std::vector<size_t>>
formBuckets(const std::vector<CollectiveCall> &calls);

/// Latency of one call of a collective, in seconds. The function
/// isWorthPacking() uses this latency if its parameter `callSeconds` is 0. The
/// parameter is 0 if the description of the cluster contains no latency.
inline constexpr double assumedCallSeconds = 5e-6;

/// Returns whether a collective should share one call with other collectives. A
/// shared call saves the latency of a separate call, which is `callSeconds`. A
/// shared call also needs two copies: the operand is copied into a common
/// buffer, and the result is copied out of a common buffer.
///
/// The function returns true if the copies take at most half of the latency. A
/// copy reads and writes each byte once. `memoryBytesPerSecond` is the memory
/// bandwidth. For example, if operand and result have 1 MB each, the copies
/// move 4 MB. At 1000 GB per second, they take 4 microseconds. The latency must
/// then be at least 8 microseconds. If `callSeconds` is 0, the function uses
/// the latency `assumedCallSeconds`.
bool isWorthPacking(double operandBytes, double resultBytes, double callSeconds,
                    double memoryBytesPerSecond);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_BUCKETS_H
