//===- OwnedPieces.h - what a rank writes ---------------------------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H
#define PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H

#include "runtime/checkpoint/LowestPositions.h"
#include "runtime/checkpoint/TrainingState.h"

#include <cstddef>
#include <span>
#include <vector>

namespace pcc::runtime {

/// A rank's part of a tensor that no lower rank holds. It may be empty.
struct OwnedPiece {
  const StateTensor *tensor;
  std::vector<std::vector<Run>> runs = {};
  std::vector<int64_t> shape = {}; ///< of what the runs hold
  std::vector<StridedCopy> copies =
      {}; ///< from the local piece to dense memory
  uint64_t bytes = 0;
};

/// Whether this rank, among those that hold the same elements, is the one that
/// writes them.
bool isOwner(const StateTensor &tensor, const Mesh &mesh, const Coordinates &at,
             const LowestPositions &lowest);

/// Of every tensor whose owner, among those that hold the same elements, is
/// this rank.
std::vector<OwnedPiece> ownedPieces(std::span<const StateTensor> tensors,
                                    const Mesh &mesh, const Coordinates &at,
                                    const LowestPositions &lowest);

/// Writes the elements as they are now, `piece.bytes` bytes.
void pack(const OwnedPiece &piece, std::byte *target);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_OWNEDPIECES_H
