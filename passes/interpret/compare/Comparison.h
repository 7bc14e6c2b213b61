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
  /// Number of the rank that holds the wrong element; nullopt if not known.
  std::optional<int64_t> rank;
};

/// Compares the shards of a tensor on all ranks with the expected global
/// tensor. The error of an element is relative to the tensor, not to the
/// element:
///
///   |expected − got| / largest finite magnitude in the expected tensor
///
/// The divisor is 1 if the expected tensor has no finite element except zeros.
/// Special values:
///  - NaN and NaN, or an infinity and itself: the error is 0.
///  - Any other pair with a NaN or an infinity: the error is the largest finite
///    number.
class Comparison {
public:
  /// Prepares a comparison with the global tensor `expected`. An element counts
  /// as equal if one of these conditions is true:
  ///
  ///  - |expected − got| ≤ `tolerance` · m
  ///  - |expected − got| ≤ `noise`
  ///
  /// Here, m is the largest finite magnitude of an element of `expected`; if it
  /// is 0, m is 1. Example: m is 10, `tolerance` is 0.01 and `noise` is 0.2. An
  /// element with a difference of 0.15 exceeds the tolerance of 0.1, but counts
  /// as equal because of `noise`.
  Comparison(graph::HostTensor expected, double tolerance, double noise = 0);

  /// Compares `shard`, which the rank `rank` holds. `indices` are the global
  /// indices of its elements. Padding is not compared.
  void add(const graph::HostTensor &shard, const LocalIndices &indices,
           std::optional<int64_t> rank);

  /// Returns the largest error of the elements compared so far.
  double maxError() const { return error; }
  /// Returns whether all elements compared so far are equal within the
  /// tolerance.
  bool isEqual() const { return error <= tolerance; }
  /// Returns the first wrong element. Returns nullopt if no element is wrong.
  /// An element is wrong if its relative error exceeds the tolerance. Each call
  /// of add() compares one shard. The shards come in the order of the calls,
  /// and the elements of a shard come in row-major order. Example: the first
  /// call of add() compares the elements 0 and 1, and the second call compares
  /// the elements 2 and 3. If the elements 1 and 2 are wrong, the function
  /// returns element 1.
  const std::optional<Difference> &firstDifference() const { return first; }
  /// Returns the expected global tensor.
  const graph::HostTensor &whole() const { return expected; }

private:
  /// Returns the relative error of one element. `wanted` is the expected
  /// element, and `got` is the computed element. Let m be the largest finite
  /// magnitude of an element of the expected tensor. If this magnitude is 0, m
  /// is 1. The first case that applies gives the result:
  ///
  ///  1. Both elements are equal, or both are NaN: the result is 0.
  ///  2. |wanted − got| / m exceeds `tolerance`, but |wanted − got| is at most
  ///     `noise`: the difference is accepted, and the result is 0.
  ///  3. An element is NaN or infinite: the result is the largest finite
  ///     number.
  ///  4. All other cases: the result is |wanted − got| / m.
  ///
  /// Example: `wanted` is 3, `got` is 3.5, m is 10 and `noise` is 0. The result
  /// is 0.05.
  double errorOf(double wanted, double got) const;

  graph::HostTensor expected;
  double tolerance, noise;
  /// Largest finite magnitude of an element of `expected`.
  double magnitude = 0;
  /// Largest error of the elements compared so far.
  double error = 0;
  std::optional<Difference> first;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H
