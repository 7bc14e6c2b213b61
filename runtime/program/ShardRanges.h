//===- ShardRanges.h - members of a group that may share elements ---------===//
//
// In a group of k members, each member could be compared with every other one
// to find the elements that one has and the other needs: k² comparisons. In a
// halo exchange, only neighbors share elements. ShardRanges finds these members
// by the range of indices that each of them has and needs along one dim.
//
// Example: 4 members hold 4 of 16 rows each, and need one row more on each
// side.
//
//   member   holds      needs      members that hold what it needs
//   0        [0, 4)     [0, 5)     0, 1
//   1        [4, 8)     [3, 9)     0, 1, 2
//   2        [8, 12)    [7, 13)    1, 2, 3
//   3        [12, 16)   [11, 16)   2, 3
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_SHARDRANGES_H
#define PCC_RUNTIME_PROGRAM_SHARDRANGES_H

#include "runtime/program/Layout.h"

#include <cstdint>
#include <vector>

namespace pcc::runtime {

/// Range of indices [begin, end) of a dim; empty if `end` is not larger.
struct DimRange {
  int64_t begin = 0, end = 0;
  bool isEmpty() const { return begin >= end; }
};

/// A list of ranges that finds those which overlap a given range.
class RangeIndex {
public:
  explicit RangeIndex(std::vector<DimRange> list);

  /// Returns range number `i`.
  const DimRange &operator[](int i) const { return ranges[size_t(i)]; }
  /// Returns the numbers of all ranges that have an index in common with
  /// `range`, in ascending order.
  std::vector<int> overlapping(const DimRange &range) const;

private:
  std::vector<DimRange> ranges;
  std::vector<int> order;       ///< ranges that are not empty, by their begin
  std::vector<int64_t> longest; ///< the largest end of order[0] to order[i]
};

/// For each member of a group, the range of indices that it has of the operand,
/// and the range that it needs for the result of a collective, both along the
/// dim that divides the operand into the most parts.
class ShardRanges {
public:
  /// `from` and `to` are the layouts of the operand and of the result.
  ShardRanges(const Layout &from, const Layout &to, const Mesh &mesh,
              const std::vector<Coordinates> &members);

  /// Returns all members that have an element which member `target` needs, in
  /// ascending order. May return further members.
  std::vector<int> holdersFor(int target) const {
    return held.overlapping(needed[target]);
  }
  /// Returns all members that need an element which member `source` has, in
  /// ascending order. May return further members.
  std::vector<int> readersOf(int source) const {
    return needed.overlapping(held[source]);
  }

private:
  RangeIndex held, needed;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_SHARDRANGES_H
