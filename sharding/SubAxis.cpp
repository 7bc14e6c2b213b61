//===- SubAxis.cpp - sub-axes: parts of mesh axes -------------------------===//
#include "sharding/SubAxis.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <map>

namespace pcc::dist {

SubAxis fullAxis(const Mesh &mesh, const std::string &name) {
  return {name, 1, mesh.sizeOf(name)};
}

bool isFull(const SubAxis &a, const Mesh &mesh) {
  return a.pre == 1 && a.size == mesh.sizeOf(a.axis);
}

bool overlaps(const SubAxis &a, const SubAxis &b) {
  return a.axis == b.axis &&
         std::max(a.pre, b.pre) < std::min(a.end(), b.end());
}

std::optional<SubAxis> overlap(const SubAxis &a, const SubAxis &b) {
  if (!overlaps(a, b) || !canCoexist(a, b))
    return std::nullopt;
  int64_t pre = std::max(a.pre, b.pre);
  return SubAxis{a.axis, pre, std::min(a.end(), b.end()) / pre};
}

bool contains(const SubAxis &a, const SubAxis &b) {
  return a.axis == b.axis && b.pre % a.pre == 0 && a.end() % b.end() == 0;
}

bool canCoexist(const SubAxis &a, const SubAxis &b) {
  if (a.axis != b.axis)
    return true;
  // Sub-axes `a` and `b` can coexist if their begins and ends, sorted by size,
  // form a chain in which each number divides the next one.
  std::array<int64_t, 4> cuts = {a.pre, a.end(), b.pre, b.end()};
  std::sort(cuts.begin(), cuts.end());
  for (int i = 0; i < 3; ++i)
    if (cuts[i + 1] % cuts[i] != 0)
      return false;
  return true;
}

bool canMerge(const SubAxis &a, const SubAxis &b) {
  return a.axis == b.axis && a.end() == b.pre;
}

SubAxis merge(const SubAxis &a, const SubAxis &b) {
  assert(canMerge(a, b) && "`b` does not begin where `a` ends");
  return {a.axis, a.pre, a.size * b.size};
}

SubAxes without(const SubAxis &a, const SubAxis &b) {
  assert(canCoexist(a, b) && "no common decomposition of the axis");
  std::optional<SubAxis> both = overlap(a, b);
  if (!both)
    return {a};
  SubAxes rest;
  if (both->pre > a.pre)
    rest.push_back({a.axis, a.pre, both->pre / a.pre});
  if (both->end() < a.end())
    rest.push_back({a.axis, both->end(), a.end() / both->end()});
  return rest;
}

SubAxes mergeNeighbours(const SubAxes &axes) {
  SubAxes result;
  for (const SubAxis &axis : axes) {
    if (axis.size == 1)
      continue;
    if (!result.empty() && canMerge(result.back(), axis))
      result.back() = merge(result.back(), axis);
    else
      result.push_back(axis);
  }
  return result;
}

bool holdsAxis(const SubAxes &axes, std::string_view name) {
  return std::any_of(axes.begin(), axes.end(),
                     [&](const SubAxis &axis) { return axis.axis == name; });
}

std::string axisNames(const SubAxes &axes) {
  std::string names;
  SubAxes seen;
  for (const SubAxis &axis : axes) {
    if (!holdsAxis(seen, axis.axis))
      names += (names.empty() ? "" : "+") + axis.axis;
    seen.push_back(axis);
  }
  return names;
}

int64_t numParts(const SubAxes &axes) {
  int64_t product = 1;
  for (const SubAxis &axis : axes)
    if (__builtin_mul_overflow(product, axis.size, &product))
      return std::numeric_limits<int64_t>::max();
  return product;
}

int64_t coordinateOf(const SubAxis &a, const Mesh &mesh,
                     const Coordinates &where) {
  int index = mesh.indexOf(a.axis);
  if (index < 0)
    return 0;
  assert(where.size() == mesh.axes.size() && "one coordinate per axis");
  // Product of the digits (factors of the axis size) that are minor to `a`.
  int64_t minor = mesh.axes[index].size / a.end();
  return where[index] / std::max<int64_t>(minor, 1) % a.size;
}

int64_t coordinateOf(const SubAxes &axes, const Mesh &mesh,
                     const Coordinates &where) {
  int64_t position = 0;
  for (const SubAxis &axis : axes)
    position = position * axis.size + coordinateOf(axis, mesh, where);
  return position;
}

std::string toString(const SubAxis &a, const Mesh *mesh) {
  if (mesh && isFull(a, *mesh))
    return a.axis;
  const bool isKnown = mesh && mesh->indexOf(a.axis) >= 0;
  std::string pre =
      a.pre == 1 && !isKnown ? "" : "(" + std::to_string(a.pre) + ")";
  return a.axis + ":" + pre + std::to_string(a.size);
}

/// Returns `where` with its coordinates along `axes` set to 0. The result is
/// equal for all ranks of one group, so it identifies the group.
static Coordinates groupOrigin(const SubAxes &axes, const Mesh &mesh,
                               const Coordinates &where) {
  Coordinates origin = where;
  for (const SubAxis &axis : axes) {
    int index = mesh.indexOf(axis.axis);
    assert(index >= 0 && "the mesh lacks the axis");
    int64_t minor = mesh.axes[index].size / axis.end();
    origin[index] -= coordinateOf(axis, mesh, where) * minor;
  }
  return origin;
}

std::vector<std::vector<int64_t>> groupsOf(const Mesh &mesh,
                                           const SubAxes &axes) {
  std::map<int64_t, std::vector<int64_t>> groups;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    Coordinates where = mesh.coordinates(rank);
    std::vector<int64_t> &group =
        groups[mesh.rankOf(groupOrigin(axes, mesh, where))];
    group.resize(numParts(axes));
    group[coordinateOf(axes, mesh, where)] = rank;
  }
  std::vector<std::vector<int64_t>> result;
  for (auto &[origin, group] : groups)
    result.push_back(std::move(group));
  return result;
}

} // namespace pcc::dist
