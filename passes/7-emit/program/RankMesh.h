//===- RankMesh.h - translation of shardings to runtime layouts -----------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H
#define PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H

#include "dialects/dist/Sharding.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/program/Program.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// The mesh of ranks of a bundle, and the translation of shardings over the
/// module's mesh into layouts over this mesh. Its axes are "pp", the pipeline,
/// followed by the axes of the module's mesh except `mb`. The pseudo axis of
/// microbatches comes last and has no name. For mesh {mb=4, dp=2, tp=8} and two
/// positions:
///
///   axis    pp  dp  tp  (microbatches)
///   size     2   2   8   4
class RankMesh {
public:
  /// `mesh` is the module's mesh; the numbers of positions and microbatches are
  /// at least 1.
  RankMesh(dist::Mesh mesh, int64_t numPositions, int64_t numMicrobatches);

  /// Returns the sizes of the axes, in rank order, microbatches last.
  const runtime::Mesh &sizes() const { return ranks; }
  /// Returns the names of the axes, "pp" first, without the microbatches.
  const std::vector<std::string> &names() const { return axisNames; }
  /// Returns the mesh of the module.
  const dist::Mesh &shardingMesh() const { return mesh; }

  /// Returns a sub-axis of the module's mesh as a digit of a rank's coordinate.
  /// An axis that is no axis of ranks is taken for the microbatches.
  runtime::AxisPart partOf(const dist::SubAxis &axis) const;
  /// Returns the group of ranks that differ along `axes` only, first axis
  /// major.
  runtime::GroupSpec groupOf(const dist::SubAxes &axes) const;
  /// Returns the layout of a tensor of global shape `shape` under `sharding`,
  /// in the dims of the view if it has one. Partial axes have no influence.
  runtime::Layout layoutOf(const dist::Sharding &sharding,
                           llvm::ArrayRef<int64_t> shape) const;

private:
  dist::Mesh mesh;
  runtime::Mesh ranks;
  std::vector<std::string> axisNames;
};

/// Returns the windows (halo exchange) through which the result of a collective
/// reads the dims, one per dim. The list is empty if no dim has a window.
std::vector<runtime::View> viewsOf(const dist::Sharding &sharding);

/// Returns the runtime's element type for an MLIR type; std::nullopt if
/// programs cannot hold it.
std::optional<runtime::ElementType> elementTypeOf(mlir::Type type);
/// Returns the element type of a tensor. The gate of 1-import guarantees that
/// the runtime has the type.
runtime::ElementType elementTypeOf(mlir::RankedTensorType type);
/// Returns the bytes of a dense tensor of `type`.
int64_t bytesOf(mlir::RankedTensorType type);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H
