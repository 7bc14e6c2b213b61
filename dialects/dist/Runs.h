//===- Runs.h - Which indices a rank holds --------------------------------===//
#ifndef PCC_DIALECTS_DIST_RUNS_H
#define PCC_DIALECTS_DIST_RUNS_H

#include "dialects/dist/Sharding.h"

#include <cstdint>
#include <vector>

namespace pcc::dist {

/// Global indices [lo, hi).
struct Run {
  int64_t lo = 0;
  int64_t hi = 0;

  int64_t size() const { return hi - lo; }
  bool operator==(const Run &) const = default;
};

/// Ascending, disjoint, not touching.
using Runs = std::vector<Run>;

/// Real (unpadded) indices of a dim at given positions: `positions[i]` is the
/// coordinate of factor i's axes. Local order is ascending. Of a dim with a
/// view, the view's indices, holes included.
///   [3|64@tp], position 1 of 2: {32,64} {96,128} {160,192}
Runs runsAt(const DimSharding &dim, int64_t dimSize,
            const std::vector<int64_t> &positions);

/// Real indices that a rank at `where` holds of a dim.
Runs runsOf(const DimSharding &dim, int64_t dimSize, const Mesh &mesh,
            const Coordinates &where);

/// Per dim, as in bundle.json.
std::vector<Runs> runsOf(const Sharding &sharding, const Shape &shape,
                         const Mesh &mesh, const Coordinates &where);

int64_t count(const Runs &runs);
/// Elements of a box of runs: the product over the dims.
int64_t count(const std::vector<Runs> &box);

Runs intersect(const Runs &a, const Runs &b);
int64_t countIntersection(const Runs &a, const Runs &b);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_RUNS_H
