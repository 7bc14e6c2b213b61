//===- AllShardings.cpp - Every sharding, and what a reshard must cost ----===//
#include "test/passes/plan/reshard/AllShardings.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>

using namespace pcc::dist;

namespace pcc::plan {

namespace {
/// Assigns digits, one after another.
class Dealer {
public:
  Dealer(const Shape &shape, bool withPartial)
      : shape(shape), withPartial(withPartial), perDim(shape.size()) {}

  void deal(const SubAxes &left) {
    keep();
    for (size_t i = 0; i < left.size(); ++i) {
      SubAxes rest = left;
      rest.erase(rest.begin() + static_cast<long>(i));
      for (SubAxes &dim : perDim) {
        dim.push_back(left[i]);
        deal(rest);
        dim.pop_back();
      }
      if (withPartial) {
        partials.push_back({left[i], ReductionKind::Sum});
        deal(rest);
        partials.pop_back();
      }
    }
  }

  std::vector<Sharding> found;

private:
  void keep() {
    Sharding sharding;
    for (size_t d = 0; d < shape.size(); ++d)
      sharding.dims.push_back(splitOver(shape[d], perDim[d]));
    sharding.partials = partials;
    sharding = canonical(sharding);
    if (known.insert(sharding).second)
      found.push_back(sharding);
  }

  const Shape &shape;
  bool withPartial;
  std::vector<SubAxes> perDim;
  std::vector<Partial> partials;
  std::unordered_set<Sharding, ShardingHash> known;
};
} // namespace

std::vector<Sharding> allShardings(const SubAxes &digits, const Shape &shape,
                                   bool withPartial) {
  Dealer dealer(shape, withPartial);
  dealer.deal(digits);
  return std::move(dealer.found);
}

int64_t movementLowerBound(const Sharding &from, const Sharding &to,
                           const Shape &shape, const Mesh &mesh) {
  int64_t worst = 0;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    const std::vector<Runs> in =
        runsOf(from, shape, mesh, mesh.coordinates(rank));
    const std::vector<Runs> out =
        runsOf(to, shape, mesh, mesh.coordinates(rank));
    int64_t have = 1;
    for (size_t d = 0; d < shape.size(); ++d)
      have *= countIntersection(in[d], out[d]);
    worst = std::max(worst, count(out) - have);
  }
  return worst;
}

int64_t gatherThenSlice(const Sharding &from, const Shape &shape,
                        int64_t elementBytes, const Mesh &mesh) {
  Sharding reduced = from;
  reduced.partials.clear();
  const int64_t ranks = numParts(partialAxes(from));
  const int64_t local = numElements(localShape(from, shape)) * elementBytes;
  return 2 * ((ranks - 1) * local / ranks) +
         elementBytes * movementLowerBound(reduced,
                                           Sharding::whole(shape.size()), shape,
                                           mesh);
}

int64_t reductionLowerBound(const Sharding &from, const Sharding &to,
                            const Shape &shape, const Mesh &mesh) {
  int64_t most = 0, wanted = 0;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    const int64_t own = count(runsOf(to, shape, mesh, mesh.coordinates(rank)));
    most = std::max(most, own);
    wanted += own;
  }
  const int64_t ranks = numParts(partialAxes(from));
  const int64_t all = wanted + (ranks - 2) * numElements(shape);
  return std::max(most, (all + mesh.size() - 1) / mesh.size());
}

/// Returns the digits that are among `axes`.
static SubAxes among(const SubAxes &digits, const SubAxes &axes) {
  SubAxes found;
  for (const SubAxis &digit : digits)
    for (const SubAxis &axis : axes)
      if (contains(axis, digit))
        found.push_back(digit);
  return found;
}

static Sharding withoutPartials(Sharding sharding) {
  sharding.partials.clear();
  return sharding;
}

namespace {
/// Tries plans of one tensor.
class Sequences {
public:
  Sequences(const SubAxes &digits, const Shape &shape, int64_t elementBytes,
            const Mesh &mesh)
      : digits(digits), shape(shape), elementBytes(elementBytes), mesh(mesh) {}

  int64_t move(const Sharding &from, const Sharding &to) const {
    return elementBytes * movementLowerBound(withoutPartials(from),
                                             withoutPartials(to), shape, mesh);
  }

  /// Reduces `start` to `scattered`. Returns nothing unless `scattered` is
  /// `start` in which some of its partial digits additionally split dims.
  std::optional<int64_t> reduce(const Sharding &start,
                                const Sharding &scattered) const {
    const SubAxes partial = among(digits, partialAxes(start));
    const int64_t ranks = numParts(among(partial, splitAxes(scattered)));
    if (numParts(scattered) != numParts(start) * ranks ||
        move(start, scattered) != 0)
      return std::nullopt;
    return volume(ranks, start) +
           2 * volume(numParts(partial) / ranks, scattered);
  }

private:
  int64_t volume(int64_t ranks, const Sharding &operand) const {
    return (ranks - 1) * numElements(localShape(operand, shape)) *
           elementBytes / ranks;
  }

  const SubAxes &digits;
  const Shape &shape;
  int64_t elementBytes;
  const Mesh &mesh;
};
} // namespace

int64_t cheapestReduction(const Sharding &from, const Sharding &to,
                          const std::vector<Sharding> &all,
                          const SubAxes &digits, const Shape &shape,
                          int64_t elementBytes, const Mesh &mesh) {
  const Sequences sequences(digits, shape, elementBytes, mesh);
  int64_t best = std::numeric_limits<int64_t>::max();
  for (const Sharding &start : all) {
    if (start.partials != from.partials)
      continue;
    for (const Sharding &scattered : all)
      if (scattered.partials.empty())
        if (auto reduced = sequences.reduce(start, scattered))
          best = std::min(best, sequences.move(from, start) + *reduced +
                                    sequences.move(scattered, to));
  }
  return best;
}

} // namespace pcc::plan
