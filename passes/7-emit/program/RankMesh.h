//===- RankMesh.h - shardings in the terms of programs --------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H
#define PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H

#include "dialects/dist/Sharding.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/program/Program.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// The axes of ranks: the pipeline, then those of the module's mesh without
/// `mb`, which becomes the pseudo axis of microbatches.
class RankMesh {
public:
  RankMesh(dist::Mesh mesh, int64_t numPositions, int64_t numMicrobatches);

  /// Sizes of axes, microbatches last.
  const runtime::Mesh &sizes() const { return ranks; }
  /// Names of axes, "pp" first; without the microbatches.
  const std::vector<std::string> &names() const { return axisNames; }
  /// The mesh of the module.
  const dist::Mesh &shardingMesh() const { return mesh; }

  runtime::AxisPart partOf(const dist::SubAxis &axis) const;
  runtime::GroupSpec groupOf(const dist::SubAxes &axes) const;
  /// How a tensor of the global `shape` lies; partial axes do not matter.
  runtime::Layout layoutOf(const dist::Sharding &sharding,
                           llvm::ArrayRef<int64_t> shape) const;

private:
  dist::Mesh mesh;
  runtime::Mesh ranks;
  std::vector<std::string> axisNames;
};

/// How the result of a collective sees the dims; empty if as they are.
std::vector<runtime::View> viewsOf(const dist::Sharding &sharding);

/// Element types that programs have; nothing for others.
std::optional<runtime::ElementType> elementTypeOf(mlir::Type type);
/// The element type of a tensor. The gate of 1-import lets no other pass.
runtime::ElementType elementTypeOf(mlir::RankedTensorType type);
/// Bytes of a dense tensor.
int64_t bytesOf(mlir::RankedTensorType type);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_RANKMESH_H
