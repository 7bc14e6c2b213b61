//===- Comparison.h - error of shards against an expected tensor ----------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H
#define PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H

#include "dialects/graph/reference/HostTensor.h"
#include "passes/interpret/simulate/ShardIndices.h"
#include <optional>

namespace pcc::interpret {

/// An element whose error exceeds the tolerance.
struct Difference {
  /// Global index, one entry per dim.
  llvm::SmallVector<int64_t> index;
  double expected = 0, got = 0;
  /// Number of the rank that holds the element.
  int64_t rank = 0;
};

/// Compares shards with the expected global tensor. The error of an element is
/// relative to the whole tensor:
///
///   |expected − got| / largest finite magnitude in the expected tensor
///
/// The divisor is 1 if the expected tensor has no finite element except zeros.
/// NaN equals NaN, and an infinity equals itself. Any other pair with a NaN or
/// an infinity has the largest finite number as its error.
class Comparison {
public:
  /// Prepares to compare with `expected`. Elements are equal if their error is
  /// at most `tolerance`.
  Comparison(graph::HostTensor expected, double tolerance);

  /// Compares the shard that `rank` holds. `indices` are the global indices of
  /// its elements; padding is not compared.
  void add(const graph::HostTensor &shard, const LocalIndices &indices,
           int64_t rank);

  /// Returns the largest error of all elements so far.
  double maxError() const { return error; }
  /// Returns whether all elements so far are equal within the tolerance.
  bool isEqual() const { return error <= tolerance; }
  /// Returns the first different element, in local row-major order, of the
  /// first shard that has one; nullopt if all elements are equal.
  const std::optional<Difference> &firstDifference() const { return first; }
  /// Returns the expected global tensor.
  const graph::HostTensor &whole() const { return expected; }

private:
  /// Returns the error of one element.
  double errorOf(double wanted, double got) const;

  graph::HostTensor expected;
  double tolerance;
  /// Largest finite magnitude in `expected`.
  double magnitude = 0;
  /// Largest error so far.
  double error = 0;
  std::optional<Difference> first;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H
