//===- Buckets.h - collectives that are called together -------------------===//

#ifndef PCC_PASSES_PLAN_MEMORY_BUCKETS_H
#define PCC_PASSES_PLAN_MEMORY_BUCKETS_H

#include <cstddef>
#include <vector>

namespace pcc::plan {

/// A collective of a function.
struct CollectiveCall {
  /// Equal for those that one call can do: kind, group, dtype, reduction.
  size_t kind = 0;
  /// Its place in the program, and that of the first op which reads its result.
  size_t place = 0;
  size_t firstUse = 0;
};

/// Groups calls of one kind, numbers ascending, each call in at most one group
/// of two or more. The last of a group is where all of it can be called: the
/// others are ready by then, and nobody has read any of them yet. So none of
/// them is needed for another.
///
///     place   0   1   2   3   4   5
///             a   b   .   c   d   .        {a, b}, {c, d}: a is read at 2
///             reads:  a           b, c, d
std::vector<std::vector<size_t>>
formBuckets(const std::vector<CollectiveCall> &calls);

/// What a call is taken to cost where the cluster prices it at nothing.
inline constexpr double assumedCallSeconds = 5e-6;

/// Whether packing and unpacking costs less than half of the call that it may
/// save, so that two of them are worth it: the operand and the result are read
/// and written once more.
bool isWorthPacking(double operandBytes, double resultBytes, double callSeconds,
                    double memoryBytesPerSecond);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_BUCKETS_H
