//===- RankGroup.h - ranks that communicate, and the network under them ---===//

#ifndef PCC_PASSES_PLAN_CLUSTER_RANKGROUP_H
#define PCC_PASSES_PLAN_CLUSTER_RANKGROUP_H

#include <cstdint>
#include <vector>

namespace pcc::plan {

/// A dim of a grid of ranks: `size` ranks whose numbers differ by `stride`.
struct RankDim {
  int64_t size = 1;
  int64_t stride = 1;
};

/// The numbers of ranks that communicate, as a grid: the sums of one multiple
/// of the stride of each dim, and of the number of the first rank. Example:
/// size 2 and stride 8, and size 4 and stride 1, are the ranks 0, 1, 2, 3, 8,
/// 9, 10 and 11. All groups of one collective have the same grid.
class RankGroup {
public:
  /// Makes a group with the given dims, in any order.
  explicit RankGroup(std::vector<RankDim> dims);
  /// Makes a group of `size` ranks whose numbers differ by `stride`.
  RankGroup(int64_t stride, int64_t size)
      : RankGroup(std::vector<RankDim>{{size, stride}}) {}

  /// Returns the number of ranks.
  int64_t size() const { return sizeWithin(INT64_MAX); }

  /// Returns the number of ranks of the group within one unit of a network,
  /// such as a node of 8 devices. A unit has `span` ranks with consecutive
  /// numbers. Example: of the ranks 0, 4, 8 and 12, the result is 2 for the
  /// span 8, and 4 for the span 16. The result is the number in any unit if
  /// strides divide spans, and otherwise the least number: the ranks 0 and 5
  /// count as ranks of different nodes, as 3 and 8 are.
  int64_t sizeWithin(int64_t span) const;

private:
  /// Dims with more than one rank, the smallest stride first.
  std::vector<RankDim> dims;
};

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_CLUSTER_RANKGROUP_H
