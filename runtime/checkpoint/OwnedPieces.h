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
/// several ranks hold the same elements, only one of these ranks writes. The
/// sub-tensor is empty if the rank holds only padding.
struct OwnedPiece {
  /// Tensor that the piece is a part of; borrowed.
  const StateTensor *tensor;
  /// Global index ranges of the piece, one list per dim.
  std::vector<Runs> runs = {};
  /// Shape of the piece without padding.
  std::vector<int64_t> shape = {};
  /// Copies that pack the piece. They read the rank's shard, which may contain
  /// padding, and write dense memory of shape `shape`.
  std::vector<StridedCopy> copies = {};
  /// Size of the piece in bytes.
  uint64_t bytes = 0;
};

/// Returns whether this rank writes its shard of the tensor to a checkpoint. If
/// several ranks hold the same elements, only the lowest of these ranks writes.
/// `at` are this rank's coordinates on the mesh.
bool isOwner(const StateTensor &tensor, const Mesh &mesh, const Coordinates &at,
             const LowestPositions &lowest);

/// Returns the sub-tensors that this rank writes to a checkpoint: one for each
/// tensor for which isOwner() is true. The result borrows `tensors`.
std::vector<OwnedPiece> ownedPieces(std::span<const StateTensor> tensors,
                                    const Mesh &mesh, const Coordinates &at,
                                    const LowestPositions &lowest);

/// Copies the current elements of `piece`, without padding, to `target`, which
/// has space for `piece.bytes` bytes.
void pack(const OwnedPiece &piece, std::byte *target);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H
