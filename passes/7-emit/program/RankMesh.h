//===- RankMesh.h - translation of shardings to runtime layouts -----------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H
#define PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H

#include "mlir/IR/BuiltinTypes.h"
#include "runtime/program/Program.h"
#include "sharding/Sharding.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// Mesh of the ranks of a bundle (the directory that pcc writes). Translates
/// shardings over the module's mesh into runtime layouts over this mesh. Its
/// axes are "pp", the pipeline, then the axes of the module's mesh except `mb`.
/// Last comes a pseudo axis for microbatches, which has no name. For the
/// module's mesh {mb=4, dp=2, tp=8} and two positions (virtual pipeline ranks):
///
///   axis    pp  dp  tp  (microbatches)
///   size     2   2   8   4
class RankMesh {
public:
  /// `mesh` is the module's mesh. `numPositions` and `numMicrobatches` must be
  /// at least 1.
  RankMesh(dist::Mesh mesh, int64_t numPositions, int64_t numMicrobatches);

  /// Returns the sizes of all axes, "pp" first and the microbatches last.
  const runtime::Mesh &sizes() const { return ranks; }
  /// Returns the names of the axes, "pp" first. The axis of microbatches has
  /// none.
  const std::vector<std::string> &names() const { return axisNames; }
  /// Returns the mesh of the module, over which its shardings are.
  const dist::Mesh &shardingMesh() const { return mesh; }

  /// Translates a sub-axis of the module's mesh to a part of an axis of this
  /// mesh. An axis that is not found, such as `mb`, becomes the axis of
  /// microbatches.
  runtime::AxisPart partOf(const dist::SubAxis &axis) const;
  /// Returns the groups of ranks whose coordinates differ along `axes` only. In
  /// a group, ranks are ordered by their coordinates, first axis major.
  runtime::GroupSpec groupOf(const dist::SubAxes &axes) const;
  /// Returns the layout under `sharding` of a tensor whose shape over all ranks
  /// is `shape`. If the sharding has windows (halos), the layout is that of the
  /// tensor with its windows. Whether the tensor is partial does not matter.
  runtime::Layout layoutOf(const dist::Sharding &sharding,
                           llvm::ArrayRef<int64_t> shape) const;

private:
  dist::Mesh mesh;
  runtime::Mesh ranks;
  std::vector<std::string> axisNames;
};

/// Returns, for each dim, the windows (halos) of a tensor with `sharding`, for
/// a collective that exchanges them. Returns an empty list if no dim has
/// windows.
std::vector<runtime::View> viewsOf(const dist::Sharding &sharding);

/// Returns the runtime's element type for an MLIR element type. Returns
/// std::nullopt if the runtime has no such type.
std::optional<runtime::ElementType> elementTypeOf(mlir::Type type);
/// Returns the runtime's element type of a tensor. There always is one, since
/// phase 1-import refuses other types.
runtime::ElementType elementTypeOf(mlir::RankedTensorType type);
/// Returns the size in bytes of a tensor of `type`, stored densely: the number
/// of elements times the size of an element.
int64_t bytesOf(mlir::RankedTensorType type);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H
