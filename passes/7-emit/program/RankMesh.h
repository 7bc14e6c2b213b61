//===- RankMesh.h - mesh of ranks, and layouts of tensors over it ---------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H
#define PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H

#include "mlir/IR/BuiltinTypes.h"
#include "runtime/program/Program.h"
#include "sharding/Sharding.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// Mesh of the ranks of a bundle (the directory that pcc writes). Its first
/// axis is "pp", the pipeline. The axes of the module's mesh follow. The last
/// axis is the time axis "mb", which counts microbatches rather than ranks. A
/// sharding over the module's mesh is also a sharding over this mesh. For mesh
/// {mb=4, dp=2, tp=8} and two positions (virtual pipeline ranks):
///
///   axis    pp  dp  tp  mb
///   size     2   2   8   4
class RankMesh {
public:
  /// Creates the mesh of ranks from `mesh`, the module's mesh. `numPositions`
  /// (number of virtual pipeline ranks) and `numMicrobatches` must be at least
  /// 1.
  RankMesh(dist::Mesh mesh, int64_t numPositions, int64_t numMicrobatches);

  /// Returns the mesh of ranks, with axis "mb" (microbatches) last.
  const dist::Mesh &ranks() const { return rankMesh; }
  /// Returns the module's mesh, which has no axis for the pipeline.
  const dist::Mesh &shardingMesh() const { return mesh; }

private:
  dist::Mesh mesh;
  dist::Mesh rankMesh;
};

/// Returns the layout of a tensor of global shape `shape` under `sharding`:
/// which elements each rank holds. The layout describes each dim by factors
/// (sizes whose product is the size of the dim). A dim that `sharding` does not
/// split has one factor. The layout does not contain the axes over which the
/// tensor is partial.
runtime::Layout layoutOf(const dist::Sharding &sharding,
                         llvm::ArrayRef<int64_t> shape);

/// Returns the runtime's element type for an MLIR element type. Returns
/// std::nullopt if the runtime has no such type.
std::optional<runtime::ElementType> elementTypeOf(mlir::Type type);
/// Returns the runtime's element type of a tensor. Every tensor has one, since
/// phase 1-import rejects other element types.
runtime::ElementType elementTypeOf(mlir::RankedTensorType type);
/// Returns the size in bytes of a tensor of `type`, stored densely: the number
/// of elements times the size of an element.
int64_t bytesOf(mlir::RankedTensorType type);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H
