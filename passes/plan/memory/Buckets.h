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

/// One collective op of a function: a candidate for a bucket (several
/// collectives in one call).
struct CollectiveCall {
  /// Class of calls that can share a bucket: equal numbers mean equal kind of
  /// collective, group, element type and reduction.
  size_t kind = 0;
  /// Index of the collective among the ops of the function.
  size_t place = 0;
  /// Index, among the ops of the function, of the first op that reads the
  /// result.
  size_t firstUse = 0;
};

/// Groups calls of one kind into buckets, each of which one call can execute.
/// `calls` must be in ascending order of `place`. Each bucket is a list of two
/// or more indices into `calls`, ascending; a call is in at most one bucket.
///
/// A bucket can be executed at the place of its last call: there, the operands
/// of all its calls exist, and no op has read a result yet. Therefore no call
/// of a bucket depends on another call of the bucket. Example with calls of one
/// kind:
///
///     place   0   1   2   3   4   5
///     call    a   b       c   d            buckets {a, b} and {c, d}
///     reads           a           b, c, d
///
/// c cannot be in the bucket of a, because the op at place 2 reads a before c.
std::vector<std::vector<size_t>>
formBuckets(const std::vector<CollectiveCall> &calls);

/// Latency of a call, in seconds, that isWorthPacking assumes if the cluster
/// has a latency (`alpha`) of 0.
inline constexpr double assumedCallSeconds = 5e-6;

/// Returns whether a collective is small enough for a bucket (several
/// collectives in one call). Packing copies the operand and the result once
/// more. The copy must take at most half of `callSeconds`, the latency of a
/// call. Then the copies of two collectives together cost at most the one call
/// that they save. If `callSeconds` is 0, `assumedCallSeconds` is used.
bool isWorthPacking(double operandBytes, double resultBytes, double callSeconds,
                    double memoryBytesPerSecond);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_BUCKETS_H
