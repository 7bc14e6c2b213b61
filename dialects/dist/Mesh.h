//===- Mesh.h - Named axes over ranks -------------------------------------===//
//
// A mesh arranges ranks along named axes, major to minor. Plain C++, which the
// planner and the dialect share.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_DIALECTS_DIST_MESH_H
#define PCC_DIALECTS_DIST_MESH_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::dist {

/// One coordinate per axis of a mesh.
using Coordinates = std::vector<int64_t>;

/// The axis of microbatches: it lies in time, not over ranks, so nothing is
/// ever communicated along it.
inline constexpr std::string_view timeAxis = "mb";

struct Axis {
  std::string name;
  int64_t size = 1;

  bool operator==(const Axis &) const = default;
};

/// Axes major to minor: in mesh {dp=2, tp=4} rank 5 has the coordinates (1, 1).
struct Mesh {
  std::vector<Axis> axes;

  /// Number of points, the product of all axes.
  int64_t size() const;

  /// Position of `name` in `axes`, or -1.
  int indexOf(std::string_view name) const;

  /// Size of the axis `name`, or 0 where there is none.
  int64_t sizeOf(std::string_view name) const;

  Coordinates coordinates(int64_t rank) const;
  int64_t rankOf(const Coordinates &where) const;

  /// The mesh of ranks: this one without the time axis.
  Mesh spatial() const;

  bool operator==(const Mesh &) const = default;
};

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_MESH_H
