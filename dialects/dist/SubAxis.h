//===- SubAxis.h - A full axis or a part of one ---------------------------===//
//
// `tp:(m)k` reshapes the axis tp of size n to [m, k, n/(mk)] and takes the
// middle. On this page an axis of size 8 is the digits 2.2.2, written abc:
// tp:(1)2 = a, tp:(2)2 = b, tp:(2)4 = bc.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_DIALECTS_DIST_SUBAXIS_H
#define PCC_DIALECTS_DIST_SUBAXIS_H

#include "dialects/dist/Mesh.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pcc::dist {

struct SubAxis {
  std::string axis;
  /// Product of the parts that lie before (major to) this one.
  int64_t pre = 1;
  /// Number of parts. The whole axis has pre = 1 and the axis's own size.
  int64_t size = 1;

  /// Parts up to and including this one.
  int64_t end() const { return pre * size; }

  auto operator<=>(const SubAxis &) const = default;
};

using SubAxes = std::vector<SubAxis>;

/// The whole axis `name` of `mesh`; size 0 where the mesh has no such axis.
SubAxis fullAxis(const Mesh &mesh, const std::string &name);

/// True if `a` is the whole axis of `mesh`.
bool isFull(const SubAxis &a, const Mesh &mesh);

/// Some digit belongs to both: overlaps(ab, bc), not overlaps(a, bc).
bool overlaps(const SubAxis &a, const SubAxis &b);

/// The digits that belong to both: overlap(ab, bc) = b.
std::optional<SubAxis> overlap(const SubAxis &a, const SubAxis &b);

/// Every digit of `b` belongs to `a`: contains(abc, b).
bool contains(const SubAxis &a, const SubAxis &b);

/// One decomposition of the axis has both as runs of whole digits. tp:(1)2 and
/// tp:(1)3 of a tp of 6 cannot coexist.
bool canCoexist(const SubAxis &a, const SubAxis &b);

/// `a` is a proper or improper start of `b`: isPrefix(a, ab).
bool isPrefix(const SubAxis &a, const SubAxis &b);

/// `a` is a proper or improper end of `b`: isSuffix(b, ab).
bool isSuffix(const SubAxis &a, const SubAxis &b);

/// `b` continues `a`: canMerge(a, bc).
bool canMerge(const SubAxis &a, const SubAxis &b);

/// The union of two neighbours: merge(a, bc) = abc. Needs canMerge.
SubAxis merge(const SubAxis &a, const SubAxis &b);

/// The first `parts` parts and the rest: split(abc, 2) = {a, bc}. Needs `parts`
/// to divide the size.
std::pair<SubAxis, SubAxis> split(const SubAxis &a, int64_t parts);

/// What is left of `a` without the digits of `b`: without(abc, b) = {a, c}.
/// Needs canCoexist.
SubAxes without(const SubAxis &a, const SubAxis &b);

/// Drops parts of size 1 and merges neighbours, order kept: {a, b, x} becomes
/// {ab, x}.
SubAxes mergeNeighbours(const SubAxes &axes);

/// Whether one of `axes` is `name` or a part of it.
bool holdsAxis(const SubAxes &axes, std::string_view name);

/// The names of the axes that `axes` are of, each once: "dp+tp".
std::string axisNames(const SubAxes &axes);

/// Product of the sizes, saturated: unchecked input may hold any numbers.
int64_t numParts(const SubAxes &axes);

/// The coordinate along `a` of a rank at `where`.
int64_t coordinateOf(const SubAxis &a, const Mesh &mesh,
                     const Coordinates &where);

/// The coordinates along `axes` as one number, first axis major.
int64_t coordinateOf(const SubAxes &axes, const Mesh &mesh,
                     const Coordinates &where);

/// `tp`, or `tp:(2)4`; without a mesh `tp:4` and `tp:(2)4`.
std::string toString(const SubAxis &a, const Mesh *mesh = nullptr);

/// The ranks of `mesh` in groups that differ only along `axes`. Within a group
/// the order is that of `axes`, major first; groups are ordered by their first
/// rank. Collectives over `axes` run in each group.
///   mesh {dp=2, tp=2}, {tp}: {0,1} {2,3}    {dp}: {0,2} {1,3}
std::vector<std::vector<int64_t>> groupsOf(const Mesh &mesh,
                                           const SubAxes &axes);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_SUBAXIS_H
