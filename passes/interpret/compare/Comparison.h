//===- Comparison.h - error of shards against an expected tensor ----------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H
#define PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H

#include "dialects/graph/reference/HostTensor.h"
#include "passes/interpret/simulate/ShardIndices.h"
#include <limits>
#include <optional>
#include <vector>

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

/// Elements of a tensor that have something in common, such as being NaN.
struct Elements {
  int64_t count = 0;
  /// Indices of the first of them, one per dim; empty if `count` is 0.
  llvm::SmallVector<int64_t> first;
};

/// Returns the largest |x − y|, where x is an element of `a`, and y is the
/// element of `b` with the same indices. Returns infinity if one of the two is
/// no finite number and differs from the other. Example: for [1, 5] and [1.5,
/// 7], the differences are 0.5 and 2, and the result is 2.
double largestDifference(const graph::HostTensor &a,
                         const graph::HostTensor &b);

/// Returns the largest finite magnitude of an element of `tensor`; 0 if no
/// element is finite.
double largestMagnitude(const graph::HostTensor &tensor);

/// Compares a tensor that the ranks have computed with the expected tensor.
/// Each call of add() compares the shard of one rank. The relative error of an
/// element is |x − y| / m: x is the expected element, y is the computed
/// element, and m is the largest finite magnitude of an expected element, or 1
/// if that is 0.
class Comparison {
public:
  /// Prepares a comparison with the global tensor `expected`. Let d = |x − y|
  /// for an expected element x and the computed element y. The two elements
  /// count as equal if d ≤ `tolerance` · m or d ≤ `noise`. Here, m is the
  /// largest finite magnitude of an element of `expected`, or 1 if that
  /// magnitude is 0. If `noise` is infinite, all elements count as equal, also
  /// those for which d is NaN.
  Comparison(graph::HostTensor expected, double tolerance, double noise = 0);

  /// Leaves out each element whose difference from the element of `onOneRank`
  /// with the same indices is infinite or NaN. Such an element has overflowed
  /// on one rank already, so it says nothing about the ranks.
  /// Equal infinities, and two NaNs, are not left out. Call it before add().
  void leaveOutOverflows(const graph::HostTensor &onOneRank);

  /// Leaves out the elements that `other`, a comparison with the same tensor,
  /// has left out. Call it before add().
  void leaveOutSame(const Comparison &other) {
    leftOut = other.leftOut;
    overflow = other.overflow;
  }

  /// Compares each element of `shard`, the part of the tensor that one rank has
  /// computed. indices[d][i] is the global index of the elements with the local
  /// index i in dim d. A negative index means that `shard` has no element
  /// there, and the function skips it. `rank` is nullopt if the rank is not
  /// known. Example: if `shard` is row 1, columns 2 and 3, of the tensor,
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
  /// Returns whether the difference of a wrong element is NaN or infinite.
  bool differsInOverflows() const {
    return error == std::numeric_limits<double>::max();
  }
  /// Returns the first element whose relative error exceeds the tolerance;
  /// nullopt if there is none. The order is that of the calls of add(), and
  /// row-major within a shard.
  const std::optional<Difference> &firstDifference() const { return first; }
  /// Returns the elements of the expected tensor that are NaN.
  const Elements &nans() const { return nan; }
  /// Returns the elements that leaveOutOverflows() has left out.
  const Elements &overflows() const { return overflow; }
  /// Returns whether the expected tensor has an element that is a number and is
  /// not left out.
  bool hasNumbers() const;
  /// Frees the expected tensor. Neither add() nor whole() may be called later.
  void freeExpected() { expected = {}; }
  /// Returns the expected global tensor.
  const graph::HostTensor &whole() const { return expected; }

private:
  /// Returns the relative error of one element, |wanted − got| / m, with the m
  /// of the constructor. Returns 0 if both elements are equal, or if both are
  /// NaN. If the error would exceed `tolerance`, also returns 0 if |wanted −
  /// got| is at most `noise`, or if `noise` is infinite. Returns the largest
  /// finite double if the quotient is NaN or infinite.
  double errorOf(double wanted, double got) const;

  graph::HostTensor expected;
  double tolerance, noise;
  /// Largest finite magnitude of an element of `expected`.
  double magnitude = 0;
  /// Largest relative error of all elements that add() has compared so far.
  /// errorOf() computes the relative error of an element.
  double error = 0;
  std::optional<Difference> first;
  Elements nan, overflow;
  /// leftOut[i] tells whether the element with the row-major index i is left
  /// out. Empty if no element is.
  std::vector<bool> leftOut;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_COMPARISON_H
