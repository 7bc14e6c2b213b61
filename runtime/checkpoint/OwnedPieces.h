//===- OwnedPieces.h - the pieces of tensors that a rank saves ------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H
#define PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H

#include "runtime/checkpoint/LowestPositions.h"
#include "runtime/checkpoint/TrainingState.h"

#include <cstddef>
#include <span>
#include <vector>

namespace pcc::runtime {

/// The piece of a tensor that this rank saves because no lower rank holds it.
/// The piece can be empty, if the rank holds only padding.
struct OwnedPiece {
  /// Tensor of the piece; borrowed.
  const StateTensor *tensor;
  /// Global index ranges of the piece, one list per dim.
  std::vector<Runs> runs = {};
  /// Shape of the piece without padding.
  std::vector<int64_t> shape = {};
  /// Copies from the rank's local memory to dense memory of `shape`.
  std::vector<StridedCopy> copies = {};
  /// Size of the piece in bytes.
  uint64_t bytes = 0;
};

/// Returns whether this rank saves its piece of the tensor: it is the lowest of
/// the ranks that hold the same elements.
bool isOwner(const StateTensor &tensor, const Mesh &mesh, const Coordinates &at,
             const LowestPositions &lowest);

/// Returns the pieces that this rank saves. `tensors` is borrowed by the
/// result.
std::vector<OwnedPiece> ownedPieces(std::span<const StateTensor> tensors,
                                    const Mesh &mesh, const Coordinates &at,
                                    const LowestPositions &lowest);

/// Copies the current elements of a piece to `target`, which has space for
/// `piece.bytes` bytes.
void pack(const OwnedPiece &piece, std::byte *target);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H
