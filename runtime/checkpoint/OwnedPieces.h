//===- OwnedPieces.h - the pieces of tensors that a rank saves ------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H
#define PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H

#include "runtime/checkpoint/LowestPositions.h"
#include "runtime/checkpoint/TrainingState.h"

#include <cstddef>
#include <span>
#include <vector>

namespace pcc::runtime {

/// Sub-tensor that this rank writes to a checkpoint. The sub-tensor consists of
/// the elements of one tensor that this rank holds. If several ranks hold the
/// same elements, only one of these ranks writes the elements.
///
/// The sub-tensor does not contain padding. Padding is unused elements of a
/// shard, which make all shards equally large. For example, 5 rows are split
/// over 4 ranks, and each shard has 2 rows. Rank 2 holds one row of the
/// tensor and one row of padding. Rank 3 holds only padding, and its sub-tensor
/// is empty.
struct OwnedPiece {
  /// Tensor of which this rank saves a sub-tensor; borrowed.
  const StateTensor *tensor;
  /// Indices of the sub-tensor within the whole tensor. Entry i is the list of
  /// the index ranges along dim i, in ascending order. For example, a
  /// sub-tensor of a matrix has rows 0 and 1, and columns 4, 5 and 8. Entry 0
  /// is then {[0, 2)}, and entry 1 is {[4, 6), [8, 9)}.
  std::vector<Runs> runs = {};
  /// Shape of the sub-tensor that this rank saves, without padding. It is not
  /// the shape of the whole tensor.
  std::vector<int64_t> shape = {};
  /// Loop nests that copy the sub-tensor from this rank's shard to a dense,
  /// row-major buffer. The buffer has the shape of the sub-tensor, without
  /// padding. The loop nests skip the padding of the shard, which is its unused
  /// elements. Each entry describes one loop nest by these numbers:
  ///
  /// - the index in the shard of the first element that is read
  /// - the index in the buffer of the first element that is written
  /// - for each loop, the number of iterations, and the distances between the
  ///   elements of two iterations in the shard and in the buffer
  ///
  /// The list is empty if the shard consists only of padding.
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
