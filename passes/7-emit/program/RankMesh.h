//===- RankMesh.h - mesh of ranks, and layouts of tensors over it ---------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H
#define PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H

#include "mlir/IR/BuiltinTypes.h"
#include "runtime/program/Program.h"
#include "sharding/Sharding.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// Mesh of an MLIR module, and mesh of all ranks. A sharding over the first is
/// also valid over the second. The mesh of all ranks has the pipeline axis pp
/// first and the microbatch axis mb last. Each rank processes all microbatches,
/// so mb does not change the number of ranks.
class RankMesh {
public:
  /// Stores `mesh`, the mesh of an MLIR module, and makes the mesh of all
  /// ranks. The size of the pipeline axis pp is `numPositions`, and the size of
  /// the microbatch axis mb is `numMicrobatches`. Both must be at least 1.
  /// Example: for the mesh {dp=2, tp=8}, 2 pipeline ranks and 4 microbatches,
  /// the mesh of all ranks is {pp=2, dp=2, tp=8, mb=4}. Each of the 32 ranks
  /// processes all 4 microbatches.
  RankMesh(dist::Mesh mesh, int64_t numPositions, int64_t numMicrobatches);

  /// Returns the mesh of all ranks of the job. The first axis is "pp", the axis
  /// of the pipeline. The last axis is "mb". A coordinate on "mb" is the number
  /// of a microbatch. Each rank processes all microbatches, so "mb" does not
  /// change the number of ranks. Example: the mesh {pp=2, dp=2, tp=8, mb=4} has
  /// 2 · 2 · 8 = 32 ranks. Each rank processes 4 microbatches.
  const dist::Mesh &ranks() const { return rankMesh; }
  /// Returns the module's mesh, which has no axis for the pipeline.
  const dist::Mesh &shardingMesh() const { return mesh; }

private:
  dist::Mesh mesh;
  dist::Mesh rankMesh;
};

/// Returns the layout of a tensor with global shape `shape` and the sharding
/// `sharding`: the elements that each rank holds. The layout omits mesh axes
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
