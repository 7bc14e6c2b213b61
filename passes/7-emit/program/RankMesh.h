//===- RankMesh.h - mesh of ranks, and layouts of tensors over it ---------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H
#define PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H

#include "mlir/IR/BuiltinTypes.h"
#include "runtime/program/Program.h"
#include "sharding/Sharding.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// Mesh of all ranks of a bundle, with one more axis for the microbatches. The
/// first axis is "pp" (pipeline), and the last is "mb" (microbatches). In
/// between are the other axes of the module's mesh. A sharding over the
/// module's mesh is also valid over this mesh. Example, for module mesh {mb=4,
/// dp=2, tp=8} and two positions (virtual pipeline ranks):
///
///   axis    pp  dp  tp  mb
///   size     2   2   8   4
class RankMesh {
public:
  /// Makes the mesh of ranks from `mesh`, the module's mesh. The axis "pp"
  /// (pipeline) gets the size `numPositions`, and the axis "mb" (microbatches)
  /// the size `numMicrobatches`. Both sizes must be at least 1.
  RankMesh(dist::Mesh mesh, int64_t numPositions, int64_t numMicrobatches);

  /// Returns the mesh with the axis "pp" (pipeline) first and the axis "mb"
  /// (microbatches) last.
  const dist::Mesh &ranks() const { return rankMesh; }
  /// Returns the module's mesh, which has no axis for the pipeline.
  const dist::Mesh &shardingMesh() const { return mesh; }

private:
  dist::Mesh mesh;
  dist::Mesh rankMesh;
};

/// Returns the layout of a tensor with global shape `shape`: which elements
/// each rank holds. A dim of the layout is a product of factors, such as 192 =
/// 3 · 64, each of which may be split over mesh axes. The layout omits axes
/// over which the tensor is a partial sum.
runtime::Layout layoutOf(const dist::Sharding &sharding,
                         llvm::ArrayRef<int64_t> shape);

/// Returns the runtime's element type for an MLIR element type. Returns
/// std::nullopt if the runtime has no such type.
std::optional<runtime::ElementType> elementTypeOf(mlir::Type type);
/// Returns the runtime's element type of a tensor. Every tensor has one, since
/// phase 1-import rejects other element types.
runtime::ElementType elementTypeOf(mlir::RankedTensorType type);
/// Returns the size in bytes of a dense tensor of `type`.
int64_t bytesOf(mlir::RankedTensorType type);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H
