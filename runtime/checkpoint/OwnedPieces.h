//===- OwnedPieces.h - the pieces of tensors that a rank saves ------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H
#define PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H

#include "runtime/checkpoint/LowestPositions.h"
#include "runtime/checkpoint/TrainingState.h"

#include <cstddef>
#include <span>
#include <vector>

namespace pcc::runtime {

/// The sub-tensor of one tensor that this rank writes to a checkpoint. If
/// several ranks hold the same elements, only one writes. The sub-tensor is
/// empty if the rank holds only padding.
struct OwnedPiece {
  /// Tensor of which this rank saves a sub-tensor; borrowed.
  const StateTensor *tensor;
  /// Indices of the sub-tensor along each dim of the whole tensor, as ranges.
  std::vector<Runs> runs = {};
  /// Shape of the sub-tensor that this rank saves, without padding.
  std::vector<int64_t> shape = {};
  /// Loop nests that copy the elements of this rank's shard to a buffer. The
  /// buffer is dense and row-major, and has the shape `shape`. The loop nests
  /// do not copy the padding of the shard. The list is empty if the rank holds
  /// only padding.
  std::vector<StridedCopy> copies = {};
  /// Size in bytes of the sub-tensor that this rank saves, without padding.
  uint64_t bytes = 0;
};

/// Returns whether this rank writes its shard of the tensor to a checkpoint. If
/// several ranks hold the same elements, only the rank with the lowest number
/// writes them. `at` is this rank's position on the mesh.
bool isOwner(const StateTensor &tensor, const Mesh &mesh, const Coordinates &at,
             const LowestPositions &lowest);

/// Returns the sub-tensors that this rank writes to a checkpoint, at most one
/// per tensor. The result borrows `tensors`.
std::vector<OwnedPiece> ownedPieces(std::span<const StateTensor> tensors,
                                    const Mesh &mesh, const Coordinates &at,
                                    const LowestPositions &lowest);

/// Copies the sub-tensor `piece` from this rank's shard to `target`, without
/// padding. `target` has space for `piece.bytes` bytes.
void pack(const OwnedPiece &piece, std::byte *target);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H
