//===- OwnedPieces.cpp - the pieces of tensors that a rank saves ----------===//

#include "runtime/checkpoint/OwnedPieces.h"

namespace pcc::runtime {

/// Returns the sub-tensor of `tensor` that the rank at the mesh coordinates
/// `at` holds. The sub-tensor does not contain padding. Padding is unused
/// elements that make the shards of all ranks equally large.
static OwnedPiece pieceOf(const StateTensor &tensor, const Mesh &mesh,
                          const Coordinates &at) {
  OwnedPiece piece{&tensor};
  piece.runs = dist::runsOf(tensor.layout, tensor.shape, mesh, at);
  const LocalPart packed = packedPart(piece.runs);
  piece.shape = packed.shape;
  piece.bytes = uint64_t(numElements(piece.shape)) * sizeOf(tensor.type);
  if (piece.bytes > 0)
    piece.copies = intersect(localPart(tensor.layout, mesh, at), packed);
  return piece;
}

bool isOwner(const StateTensor &tensor, const Mesh &mesh, const Coordinates &at,
             const LowestPositions &lowest) {
  return lowest.at(tensor.name) == at[0] &&
         isLowestHolder(tensor.layout, mesh, at);
}

std::vector<OwnedPiece> ownedPieces(std::span<const StateTensor> tensors,
                                    const Mesh &mesh, const Coordinates &at,
                                    const LowestPositions &lowest) {
  std::vector<OwnedPiece> pieces;
  for (const StateTensor &tensor : tensors)
    if (isOwner(tensor, mesh, at, lowest))
      pieces.push_back(pieceOf(tensor, mesh, at));
  return pieces;
}

void pack(const OwnedPiece &piece, std::byte *target) {
  for (const StridedCopy &copy : piece.copies)
    runCopy(copy, piece.tensor->data, target, sizeOf(piece.tensor->type));
}

} // namespace pcc::runtime
