//===- Comparison.h - how far values are from what they should be ---------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H
#define PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H

#include "dialects/graph/reference/HostTensor.h"
#include "passes/interpret/simulate/ShardIndices.h"
#include <optional>

namespace pcc::interpret {

/// An element that is not what it should be.
struct Difference {
  llvm::SmallVector<int64_t> index;
  double expected = 0, got = 0;
  int64_t rank = 0;
};

/// Compares shards with the whole tensor that they should be parts of.
/// The error is the largest difference over the largest finite magnitude that
/// is expected, absolute if nothing but zeros is; NaN equals NaN, infinities
/// equal themselves, and a mismatch of those counts as the largest number.
class Comparison {
public:
  /// `tolerance` is the largest error of what is still equal.
  Comparison(graph::HostTensor expected, double tolerance);

  void add(const graph::HostTensor &shard, const LocalIndices &indices,
           int64_t rank);

  double maxError() const { return error; }
  bool isEqual() const { return error <= tolerance; }
  /// The element with the smallest index among those of the first shard that
  /// differs.
  const std::optional<Difference> &firstDifference() const { return first; }
  const graph::HostTensor &whole() const { return expected; }

private:
  double errorOf(double wanted, double got) const;

  graph::HostTensor expected;
  double tolerance;
  double magnitude = 0;
  double error = 0;
  std::optional<Difference> first;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H
