//===- SubAxis.h - sub-axes: parts of mesh axes ---------------------------===//
//
// The sub-axis `tp:(m)k` is the middle dim of the axis tp, of size n, reshaped
// to [m, k, n/(mk)] (as in Shardy). The comments below write an axis of size 8
// as three binary digits abc, major first: tp:(1)2 = a, tp:(2)2 = b,
// tp:(2)4 = bc. In general a digit is one factor of the axis size.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_SHARDING_SUBAXIS_H
#define PCC_SHARDING_SUBAXIS_H

#include "sharding/Mesh.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pcc::dist {

/// A part of a mesh axis, or all of the axis. The size of the axis is the
/// product of digits, major first, such as 2 · 2 · 2 for size 8. A sub-axis is
/// a contiguous range of these digits.
struct SubAxis {
  /// Name of the mesh axis.
  std::string axis;
  /// Product of the sizes of the digits (factors of the axis size) that are
  /// major to this sub-axis; 1 if the sub-axis begins the axis.
  int64_t pre = 1;
  /// Number of coordinates along this sub-axis. The whole axis has pre = 1 and
  /// the size of the axis.
  int64_t size = 1;

  /// Returns the product of the sizes of all digits (factors of the axis size)
  /// from the most major one up to and including this sub-axis.
  int64_t end() const { return pre * size; }

  auto operator<=>(const SubAxis &) const = default;
};

/// An ordered list of sub-axes, major first.
using SubAxes = std::vector<SubAxis>;

/// Returns the whole axis `name` of `mesh`. Its size is 0 if the mesh has no
/// such axis.
SubAxis fullAxis(const Mesh &mesh, const std::string &name);

/// Returns whether `a` is a whole axis of `mesh`.
bool isFull(const SubAxis &a, const Mesh &mesh);

/// Returns whether `a` and `b` have a digit (factor of the axis size) in
/// common. For an axis of the digits a, b, c: overlaps(ab, bc) is true,
/// overlaps(a, bc) is false.
bool overlaps(const SubAxis &a, const SubAxis &b);

/// Returns the digits (factors of the axis size) that `a` and `b` have in
/// common. For an axis of the digits a, b, c: overlap(ab, bc) = b. Returns
/// nullopt if there are none, or if canCoexist(a, b) is false.
std::optional<SubAxis> overlap(const SubAxis &a, const SubAxis &b);

/// Returns whether `a` has every digit (factor of the axis size) of `b`. For an
/// axis of the digits a, b, c: contains(abc, b) is true.
bool contains(const SubAxis &a, const SubAxis &b);

/// Returns whether the axis size can be written as a product of digits such
/// that both `a` and `b` are ranges of these digits. Always true for sub-axes
/// of different axes. For an axis tp of size 6, it is false for tp:(1)2 and
/// tp:(1)3.
bool canCoexist(const SubAxis &a, const SubAxis &b);

/// Returns whether `b` begins at the digit (factor of the axis size) after the
/// last one of `a`. For an axis of the digits a, b, c: canMerge(a, bc) is true.
bool canMerge(const SubAxis &a, const SubAxis &b);

/// Returns the union of two adjacent sub-axes. For an axis of the digits
/// (factors of its size) a, b, c: merge(a, bc) = abc. Requires canMerge(a, b).
SubAxis merge(const SubAxis &a, const SubAxis &b);

/// Returns the digits (factors of the axis size) of `a` that `b` does not have,
/// as up to two sub-axes. For an axis of the digits a, b, c: without(abc, b) =
/// {a, c}. Requires canCoexist(a, b).
SubAxes without(const SubAxis &a, const SubAxis &b);

/// Drops sub-axes of size 1, then merges consecutive entries for which canMerge
/// holds. The order is kept. If a and b are adjacent parts of one axis, {a, b,
/// x} becomes {ab, x}.
SubAxes mergeNeighbours(const SubAxes &axes);

/// Returns whether one of `axes` is the axis `name` or a part of it.
bool holdsAxis(const SubAxes &axes, std::string_view name);

/// Returns the names of the mesh axes to which `axes` belong, each once and
/// joined by `+`: "dp+tp".
std::string axisNames(const SubAxes &axes);

/// Returns the product of the sizes of `axes`. Unchecked input may hold any
/// sizes, so the product saturates at the largest int64_t.
int64_t numParts(const SubAxes &axes);

/// Returns the coordinate, in [0, a.size), along `a` of the rank at `where`; 0
/// if the mesh has no such axis.
int64_t coordinateOf(const SubAxis &a, const Mesh &mesh,
                     const Coordinates &where);

/// Returns the coordinates along all of `axes` as one number in
/// [0, numParts(axes)), the first axis being major.
int64_t coordinateOf(const SubAxes &axes, const Mesh &mesh,
                     const Coordinates &where);

/// Returns the text of a sub-axis. `tp:(2)4` is the part of tp with 4
/// coordinates that follows a major part with 2 coordinates. With a mesh, a
/// whole axis is its name, `tp`, and any part is written like `tp:(2)4`.
/// Without a mesh, a sub-axis that begins the axis is `tp:4`, any other
/// `tp:(2)4`.
std::string toString(const SubAxis &a, const Mesh *mesh = nullptr);

/// Divides the ranks of `mesh` into the groups in which a collective over
/// `axes` runs: ranks of one group differ only along `axes`. Within a group,
/// ranks are ordered by their coordinates along `axes`, major first; groups are
/// ordered by their lowest rank. All of `axes` must be in the mesh.
///   mesh {dp=2, tp=2}, {tp}: {0,1} {2,3}    {dp}: {0,2} {1,3}
std::vector<std::vector<int64_t>> groupsOf(const Mesh &mesh,
                                           const SubAxes &axes);

} // namespace pcc::dist

#endif // PCC_SHARDING_SUBAXIS_H
