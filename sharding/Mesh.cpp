//===- Mesh.cpp - device mesh: named axes over ranks ----------------------===//
#include "sharding/Mesh.h"

#include <cassert>

namespace pcc::dist {

int64_t Mesh::size() const {
  int64_t product = 1;
  for (const Axis &axis : axes)
    product *= axis.size;
  return product;
}

int Mesh::indexOf(std::string_view name) const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == name)
      return static_cast<int>(i);
  return -1;
}

int64_t Mesh::sizeOf(std::string_view name) const {
  int index = indexOf(name);
  return index < 0 ? 0 : axes[index].size;
}

Coordinates Mesh::coordinates(int64_t rank) const {
  assert(rank >= 0 && rank < size() && "no such rank");
  // Goes from the last axis, which is the most minor one, to the first. Each
  // step takes the coordinate along one axis as the remainder of `rank`.
  Coordinates where(axes.size());
  for (size_t i = axes.size(); i-- > 0; rank /= axes[i].size)
    where[i] = rank % axes[i].size;
  return where;
}

int64_t Mesh::rankOf(const Coordinates &where) const {
  assert(where.size() == axes.size() && "one coordinate per axis");
  int64_t rank = 0;
  for (size_t i = 0; i < axes.size(); ++i)
    rank = rank * axes[i].size + where[i];
  return rank;
}

/// Returns `mesh` without the axis `name`.
static Mesh without(const Mesh &mesh, std::string_view name) {
  Mesh result;
  for (const Axis &axis : mesh.axes)
    if (axis.name != name)
      result.axes.push_back(axis);
  return result;
}

Mesh Mesh::spatial() const { return without(*this, timeAxis); }

Mesh Mesh::ofStage() const { return without(*this, pipelineAxis); }

} // namespace pcc::dist
