//===- Mesh.h - device mesh: named axes over ranks ------------------------===//
//
// A mesh arranges ranks along named axes, major to minor.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_SHARDING_MESH_H
#define PCC_SHARDING_MESH_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::dist {

/// The place of a rank in a mesh: one coordinate per axis, in mesh order.
using Coordinates = std::vector<int64_t>;

/// Name of the microbatch axis. Its coordinates are points in time rather than
/// ranks, so no communication ever runs along it.
inline constexpr std::string_view timeAxis = "mb";

/// Name of the axis of pipeline positions. A mesh of all ranks may have it as
/// its first axis; the mesh of a stage does not.
inline constexpr std::string_view pipelineAxis = "pp";

/// One named axis of a mesh, such as tp of size 8.
struct Axis {
  std::string name;
  int64_t size = 1;

  bool operator==(const Axis &) const = default;
};

/// Named axes, major to minor. Ranks are numbered in row-major order: in mesh
/// {dp=2, tp=4} rank 5 has the coordinates (1, 1).
struct Mesh {
  std::vector<Axis> axes;

  /// Returns the number of points, which is the product of all axis sizes. A
  /// mesh without axes has one point.
  int64_t size() const;

  /// Returns the index of the axis `name` in `axes`, or -1 if there is none.
  int indexOf(std::string_view name) const;

  /// Returns the size of the axis `name`, or 0 if there is none.
  int64_t sizeOf(std::string_view name) const;

  /// Returns the coordinates of rank number `rank`, which is in [0, size()).
  Coordinates coordinates(int64_t rank) const;
  /// Returns the number of the rank at `where`; the inverse of coordinates().
  int64_t rankOf(const Coordinates &where) const;

  /// Returns this mesh without the time axis: the mesh over which ranks
  /// communicate.
  Mesh spatial() const;

  /// Returns this mesh without the axis of pipeline positions: the mesh over
  /// which shardings split the tensors of a stage.
  Mesh ofStage() const;

  bool operator==(const Mesh &) const = default;
};

} // namespace pcc::dist

#endif // PCC_SHARDING_MESH_H
