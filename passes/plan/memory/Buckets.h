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

/// One collective of a function.
struct CollectiveCall {
  /// Class of calls that can share a bucket: equal numbers mean equal kind of
  /// collective, group, element type and reduction.
  size_t kind = 0;
  /// Index of the collective among the ops of the function.
  size_t place = 0;
  /// Index of the first op that reads the result.
  size_t firstUse = 0;
};

/// Groups calls of one kind into buckets. `calls` must ascend in `place`. Each
/// bucket holds two or more indices into `calls`, ascending; a call is in at
/// most one bucket.
///
/// A bucket can be executed at the place of its last call: the operands of all
/// its calls exist there, and no result has been read before. Therefore no call
/// of a bucket depends on another call of the bucket.
///
///     place   0   1   2   3   4   5
///             a   b   .   c   d   .        {a, b}, {c, d}: a is read at 2
///             reads:  a           b, c, d
std::vector<std::vector<size_t>>
formBuckets(const std::vector<CollectiveCall> &calls);

/// Assumed latency of a call, in seconds, for clusters whose alpha is 0.
inline constexpr double assumedCallSeconds = 5e-6;

/// Returns whether a collective is small enough for a bucket: copying operand
/// and result once more (one read and one write each) takes at most half of
/// `callSeconds`. Packing two such collectives then costs at most the call that
/// it saves. A `callSeconds` of 0 is replaced by `assumedCallSeconds`.
bool isWorthPacking(double operandBytes, double resultBytes, double callSeconds,
                    double memoryBytesPerSecond);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_BUCKETS_H
