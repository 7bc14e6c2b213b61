//===- Runs.h - global index ranges that a rank holds ---------------------===//
//
// A rank holds of each dim a list of contiguous ranges of global indices, its
// runs. A strided shard has several: under [3|64@tp] with tp = 2, rank 1 holds
// the runs [32, 64), [96, 128) and [160, 192) of a dim of 192.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_SHARDING_RUNS_H
#define PCC_SHARDING_RUNS_H

#include "sharding/Sharding.h"

#include <cstdint>
#include <vector>

namespace pcc::dist {

/// The contiguous range [lo, hi) of global indices of a dim.
struct Run {
  int64_t lo = 0;
  int64_t hi = 0;

  int64_t size() const { return hi - lo; }
  bool operator==(const Run &) const = default;
};

/// Runs (index ranges) of one dim in ascending order. They are disjoint, and
/// two runs that touch are merged into one.
using Runs = std::vector<Run>;

/// Returns the global indices of a dim that a rank holds, without padding.
/// `positions` gives the rank: entry i is the rank's coordinate along the
/// sub-axes that split factor i of the dim (a dim [3|64@tp] has the factors 3
/// and 64). Local order is the ascending order of these indices. For a dim with
/// a view (windowed read), the indices are those of the view, holes included.
///   [3|64@tp], positions {0, 1}, tp = 2: {32,64} {96,128} {160,192}
Runs runsAt(const DimSharding &dim, int64_t dimSize,
            const std::vector<int64_t> &positions);

/// Returns the global indices of a dim that the rank at `where` holds, without
/// padding.
Runs runsOf(const DimSharding &dim, int64_t dimSize, const Mesh &mesh,
            const Coordinates &where);

/// Returns, for each dim, the runs that the rank at `where` holds. The shard is
/// the Cartesian product of the runs of all dims.
std::vector<Runs> runsOf(const Sharding &sharding, const Shape &shape,
                         const Mesh &mesh, const Coordinates &where);

/// Returns the number of indices in `runs`.
int64_t count(const Runs &runs);
/// Returns the number of elements of a box, which has one list of runs for each
/// dim: the product of the counts of its dims.
int64_t count(const std::vector<Runs> &box);

/// Returns the indices that are in both `a` and `b`, as runs.
Runs intersect(const Runs &a, const Runs &b);
/// Returns the number of indices that are in both `a` and `b`.
int64_t countIntersection(const Runs &a, const Runs &b);

} // namespace pcc::dist

#endif // PCC_SHARDING_RUNS_H
