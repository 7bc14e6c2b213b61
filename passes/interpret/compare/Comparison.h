//===- Comparison.h - error of shards against an expected tensor ----------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H
#define PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H

#include "dialects/graph/reference/HostTensor.h"
#include "passes/interpret/simulate/ShardIndices.h"
#include <optional>

namespace pcc::interpret {

/// Describes one wrong element of a tensor that the ranks have computed. An
/// element is wrong if its relative error exceeds the tolerance. The class
/// Comparison defines the relative error, and gets the tolerance from its
/// caller. A Comparison stores only the first wrong element that it finds.
struct Difference {
  /// Indices of the wrong element in the global tensor, one index per dim. The
  /// global tensor is the whole tensor; each rank holds one shard of it.
  /// Example: {1, 3} is the element in row 1 and column 3.
  llvm::SmallVector<int64_t> index;
  double expected = 0, got = 0;
  /// Number of the rank that holds the wrong element; nullopt if not known.
  std::optional<int64_t> rank;
};

/// Compares a tensor that the ranks have computed with the expected global
/// tensor. Each rank has computed one shard of the tensor. The caller passes
/// each shard to add(). The relative error of an element is the following
/// number:
///
///     |x − y| / m
///
///  - x is the element of the expected tensor.
///  - y is the same element in the shard.
///  - m is the largest magnitude of an element of the expected tensor. Elements
///    that are infinite or NaN do not count. If all other elements are 0, m is
///    1.
///
/// Example: the expected tensor is [1, 4], and the shards contain [1, 3]. The
/// relative error of the second element is 1/4.
///
/// If x or y is infinite or NaN, the relative error is one of these numbers:
///
///  - 0 if x and y are both NaN, or if x and y are the same infinity.
///  - The largest finite double in all other cases.
class Comparison {
public:
  /// Prepares a comparison with the global tensor `expected`. Let x be an
  /// element of `expected`, and let y be the same element in a shard that a
  /// rank has computed. The two elements count as equal if one of these
  /// conditions is true:
  ///
  ///  - |x − y| ≤ `tolerance` · m
  ///  - |x − y| ≤ `noise`
  ///
  /// Here, m is the largest finite magnitude of an element of `expected`. If
  /// this magnitude is 0, m is 1. Example: m is 10, `tolerance` is 0.01 and
  /// `noise` is 0.2. An element with |x − y| = 0.15 does not meet the first
  /// condition, because 0.15 is larger than 0.01 · 10. It counts as equal
  /// because 0.15 is at most `noise`.
  Comparison(graph::HostTensor expected, double tolerance, double noise = 0);

  /// Compares each element of `shard` with the same element of the expected
  /// tensor.
  ///
  ///  - `shard` is the part of the tensor that one rank has computed.
  ///  - `indices` contains the global indices of the elements of `shard`. It
  ///    has one list per dim. Entry i of a list is the global index that
  ///    corresponds to the local index i. The entry is negative if `shard` has
  ///    no element at the local index i, for example at the unused end of a
  ///    buffer. The function skips such local indices.
  ///  - `rank` is the number of the rank; nullopt if the rank is not known.
  ///
  /// Example: `shard` is row 1 of the expected tensor, columns 2 and 3. Then
  /// `indices` is {{1}, {2, 3}}.
  void add(const graph::HostTensor &shard, const LocalIndices &indices,
           std::optional<int64_t> rank);

  /// Returns the largest relative error of all elements that add() has compared
  /// so far. The relative error of an element is usually |x − y| / m. Here, x
  /// is the expected element, y is the computed element, and m is the largest
  /// finite magnitude of an element of the expected tensor. errorOf() describes
  /// the exceptions. Example: the expected tensor is [1, 4], and the computed
  /// tensor is [1, 3]. The result is 1/4.
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
  /// Returns the relative error of one element. The parameter `wanted` is the
  /// expected element, and `got` is the element that a rank has computed. The
  /// function uses these numbers:
  ///
  ///  - m is the largest finite magnitude of an element of the expected tensor.
  ///    If all finite elements are 0, m is 1.
  ///  - The member `tolerance` is the largest relative error that the caller of
  ///    this class accepts.
  ///  - The member `noise` is the largest difference |wanted − got| that the
  ///    caller accepts even if |wanted − got| / m exceeds `tolerance`.
  ///
  /// The first case that applies gives the result:
  ///
  ///  1. Both elements are equal, or both are NaN: the result is 0.
  ///  2. |wanted − got| / m exceeds `tolerance`, but |wanted − got| is at most
  ///     `noise`: the result is 0.
  ///  3. |wanted − got| / m is NaN or infinite: the result is the largest
  ///     finite number. Example: one of the two elements is NaN, and the other
  ///     one is 1.
  ///  4. All other cases: the result is |wanted − got| / m.
  ///
  /// Example: `wanted` is 3, `got` is 3.5, m is 10 and `tolerance` is 0.01. The
  /// number |wanted − got| / m is 0.05. The result is 0.05 if `noise` is 0. The
  /// result is 0 if `noise` is 0.5.
  double errorOf(double wanted, double got) const;

  graph::HostTensor expected;
  double tolerance, noise;
  /// Largest finite magnitude of an element of `expected`.
  double magnitude = 0;
  /// Largest relative error of all elements that add() has compared so far.
  /// errorOf() computes the relative error of an element.
  double error = 0;
  std::optional<Difference> first;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H
