//===- ShardRanges.cpp - members of a group that may share elements -------===//

#include "runtime/program/ShardRanges.h"

#include <algorithm>

namespace pcc::runtime {

RangeIndex::RangeIndex(std::vector<DimRange> list) : ranges(std::move(list)) {
  for (size_t i = 0; i < ranges.size(); ++i)
    if (!ranges[i].isEmpty())
      order.push_back(int(i));
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return ranges[size_t(a)].begin < ranges[size_t(b)].begin;
  });
  for (const int i : order) {
    const int64_t end = ranges[size_t(i)].end;
    longest.push_back(longest.empty() ? end : std::max(longest.back(), end));
  }
}

std::vector<int> RangeIndex::overlapping(const DimRange &range) const {
  std::vector<int> found;
  const auto first =
      std::upper_bound(longest.begin(), longest.end(), range.begin);
  for (auto i = size_t(first - longest.begin()); i < order.size(); ++i) {
    const DimRange &other = ranges[size_t(order[i])];
    if (other.begin >= range.end)
      break;
    if (other.end > range.begin)
      found.push_back(order[i]);
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Extends `range` by the index `index`.
static void include(DimRange &range, int64_t index) {
  range = range.isEmpty() ? DimRange{index, index + 1}
                          : DimRange{std::min(range.begin, index),
                                     std::max(range.end, index + 1)};
}

/// Extends `range` by the elements of a dim that the indices `indices` of
/// `view` read in the block number `block` of the view.
static void includeBlock(DimRange &range, const View &view, int64_t block,
                         const Segment &indices) {
  for (const ViewPiece &piece : view.pieces) {
    const int64_t begin = block * view.length + piece.lo;
    const int64_t first = std::max<int64_t>(0, indices.global - begin);
    const int64_t last =
        std::min(piece.hi - piece.lo, indices.global + indices.length - begin) -
        1;
    for (const int64_t step : {first, last})
      if (first <= last)
        include(range, block * view.pitch + piece.source + piece.step * step);
  }
}

/// Returns the elements of a dim that the indices `indices` of `view` read, or
/// a larger range. Blocks between the first two and the last two read between
/// them.
static DimRange rangeRead(const View &view,
                          const std::vector<Segment> &indices) {
  DimRange range;
  for (const Segment &segment : indices) {
    if (segment.length == 0)
      continue;
    const int64_t first = segment.global / view.length;
    const int64_t last = (segment.global + segment.length - 1) / view.length;
    for (const int64_t block : {first, first + 1, last - 1, last})
      if (first <= block && block <= last)
        includeBlock(range, view, block, segment);
  }
  return {std::max<int64_t>(range.begin, 0), std::min(range.end, view.limit)};
}

/// Returns the range from the first to the last index of `segments`.
static DimRange rangeOf(const std::vector<Segment> &segments) {
  DimRange range;
  for (const Segment &segment : segments)
    if (segment.length > 0) {
      include(range, segment.global);
      include(range, segment.global + segment.length - 1);
    }
  return range;
}

/// Returns the dim that divides the tensor into the most parts.
static size_t mostDividedDim(const Layout &layout) {
  const auto dim =
      std::max_element(layout.dims.begin(), layout.dims.end(),
                       [](const DimSharding &a, const DimSharding &b) {
                         return a.numParts() < b.numParts();
                       });
  return size_t(dim - layout.dims.begin());
}

/// Returns the range of each member along dim `dim` of `layout`: the elements
/// that its shard has or, through a view, reads. A scalar is one element.
static std::vector<DimRange> rangesOf(const Layout &layout, size_t dim,
                                      const Mesh &mesh,
                                      const std::vector<Coordinates> &members) {
  if (layout.dims.empty())
    return std::vector<DimRange>(members.size(), {0, 1});
  const Layout line{.dims = {layout.dims[dim]}};
  const std::optional<View> &view = layout.dims[dim].view;
  std::vector<DimRange> ranges;
  for (const Coordinates &member : members) {
    const auto segments = localPart(line, mesh, member).dims[0];
    ranges.push_back(view ? rangeRead(*view, segments) : rangeOf(segments));
  }
  return ranges;
}

ShardRanges::ShardRanges(const Layout &from, const Layout &to, const Mesh &mesh,
                         const std::vector<Coordinates> &members)
    : held(rangesOf(from, mostDividedDim(from), mesh, members)),
      needed(rangesOf(to, mostDividedDim(from), mesh, members)) {}

} // namespace pcc::runtime
