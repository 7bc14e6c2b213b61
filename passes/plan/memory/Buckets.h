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

/// Groups calls of equal kind into buckets, which one call can execute. `calls`
/// must ascend by `place`. Each bucket is an ascending list of two or more
/// indices into `calls`. A bucket runs at its last call, before any result is
/// read. Example:
///
///     place   0   1   2   3   4   5
///     call    a   b       c   d            buckets {a, b} and {c, d}
///     reads           a           b, c, d
///
/// The op at place 2 reads a, so a and c cannot be in one bucket.
std::vector<std::vector<size_t>>
formBuckets(const std::vector<CollectiveCall> &calls);

/// Latency of a call in seconds, used if the cluster has latency 0.
inline constexpr double assumedCallSeconds = 5e-6;

/// Returns whether a collective is small enough to share a call with others.
/// Copying its operand and result must take at most half of `callSeconds`, the
/// latency of a call. A latency of 0 counts as `assumedCallSeconds`.
bool isWorthPacking(double operandBytes, double resultBytes, double callSeconds,
                    double memoryBytesPerSecond);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_BUCKETS_H
