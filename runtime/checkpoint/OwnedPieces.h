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
  /// Tensor to which the sub-tensor belongs. This object does not own the
  /// tensor.
  const StateTensor *tensor;
  /// Indices of the sub-tensor within the whole tensor. Entry i is the list of
  /// the index ranges along dim i, in ascending order. For example, a
  /// sub-tensor of a matrix has rows 0 and 1, and columns 4, 5 and 8. Entry 0
  /// is then {[0, 2)}, and entry 1 is {[4, 6), [8, 9)}.
  std::vector<Runs> runs = {};
  /// Shape of the sub-tensor that this rank saves, not of the whole tensor. The
  /// shard of this rank may have a larger shape, because a shard may contain
  /// unused elements. The unused elements make the shards of all ranks equally
  /// large. For example, 5 rows are split over 2 ranks, and each shard has 3
  /// rows. Rank 1 holds 2 rows of the tensor and 1 unused row. The sub-tensor
  /// that rank 1 saves has 2 rows.
  std::vector<int64_t> shape = {};
  /// Loop nests that copy the sub-tensor from this rank's shard to a buffer.
  /// The buffer is dense and row-major, and has the shape of the sub-tensor.
  /// The loop nests skip the padding of the shard. For example, a shard has 2
  /// rows of 4 elements, and the last element of each row is padding. One loop
  /// nest then copies the elements 0, 1, 2, 4, 5 and 6. If the shard consists
  /// only of padding, the list of loop nests is empty.
  std::vector<StridedCopy> copies = {};
  /// Size in bytes of the sub-tensor that this rank saves. The shard of this
  /// rank may be larger, because a shard may contain unused elements. The
  /// unused elements make the shards of all ranks equally large, and are not
  /// saved.
  uint64_t bytes = 0;
};

/// Returns whether this rank writes its shard of `tensor` to a checkpoint. If
/// several ranks hold the same elements, only the rank with the lowest number
/// writes them. For example, ranks 0 and 1 hold the same shard. The function
/// returns true on rank 0, and false on rank 1.
///
/// `mesh` is the mesh of the program, and `at` has this rank's coordinates on
/// the mesh. `lowest` maps the name of each tensor to the lowest coordinate on
/// the pipeline axis (mesh axis 0) at which ranks hold the tensor.
bool isOwner(const StateTensor &tensor, const Mesh &mesh, const Coordinates &at,
             const LowestPositions &lowest);

/// Returns the sub-tensors that this rank writes to a checkpoint. `tensors`
/// lists the shards that this rank holds. The result has one entry for each
/// shard for which isOwner() returns true. An entry contains a pointer to an
/// element of `tensors`. `tensors` must therefore exist as long as the result.
///
/// `mesh` is the mesh of the program, and `at` has this rank's coordinates on
/// the mesh. `lowest` maps the name of each tensor to the lowest coordinate on
/// the pipeline axis (mesh axis 0) at which ranks hold the tensor.
std::vector<OwnedPiece> ownedPieces(std::span<const StateTensor> tensors,
                                    const Mesh &mesh, const Coordinates &at,
                                    const LowestPositions &lowest);

/// Copies the elements of the sub-tensor `piece` from the memory of this rank's
/// shard to the memory `target`. The elements are dense and row-major in
/// `target`, and need `piece.bytes` bytes. A shard may contain unused elements,
/// which make the shards of all ranks equally large. The function does not copy
/// the unused elements.
void pack(const OwnedPiece &piece, std::byte *target);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H
