//===- Comparison.h - error of shards against an expected tensor ----------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H
#define PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H

#include "dialects/graph/reference/HostTensor.h"
#include "passes/interpret/simulate/ShardIndices.h"
#include <optional>

namespace pcc::interpret {

/// The first element of a tensor whose error exceeds the tolerance.
struct Difference {
  /// Indices of the element in the global tensor, one per dim.
  llvm::SmallVector<int64_t> index;
  double expected = 0, got = 0;
  /// Number of the rank whose shard has the differing element.
  int64_t rank = 0;
};

/// Compares the shards of a tensor on all ranks with the expected global
/// tensor. The error of an element is relative to the whole tensor:
///
///   |expected − got| / largest finite magnitude in the expected tensor
///
/// If this magnitude is 0, the divisor is 1. Special values have fixed errors:
///  - NaN and NaN, or an infinity and itself: 0.
///  - a NaN or an infinity, and any other value: the largest finite number.
class Comparison {
public:
  /// Prepares to compare with the global tensor `expected`. An element counts
  /// as equal if its error is at most `tolerance`.
  Comparison(graph::HostTensor expected, double tolerance);

  /// Compares a shard of the rank `rank` with the expected tensor. `indices`
  /// are the global indices of the shard's elements. Skips the shard's padding.
  void add(const graph::HostTensor &shard, const LocalIndices &indices,
           int64_t rank);

  /// Returns the largest error of the elements compared so far.
  double maxError() const { return error; }
  /// Returns whether all elements compared so far are equal within the
  /// tolerance.
  bool isEqual() const { return error <= tolerance; }
  /// Returns the first compared element whose error exceeds the tolerance;
  /// nullopt if there is none.
  const std::optional<Difference> &firstDifference() const { return first; }
  /// Returns the expected global tensor.
  const graph::HostTensor &whole() const { return expected; }

private:
  /// Returns the error of one element. `wanted` is its expected value, `got`
  /// its computed value. The error is relative to the largest magnitude in the
  /// expected tensor.
  double errorOf(double wanted, double got) const;

  graph::HostTensor expected;
  double tolerance;
  /// Largest finite magnitude of an element of `expected`.
  double magnitude = 0;
  /// Largest error of the elements compared so far.
  double error = 0;
  std::optional<Difference> first;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H
