//===- LowestPositions.h - pipeline positions that hold each tensor -------===//

#ifndef PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
#define PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/comm/Communicator.h"

#include <map>
#include <span>
#include <string>

namespace pcc::runtime {

/// For each tensor name, the lowest pipeline position (coordinate on axis 0)
/// whose ranks hold the tensor. A tensor can be held by several positions, for
/// instance a weight that the first and the last stage share. The lowest
/// position then saves it.
using LowestPositions = std::map<std::string, int64_t>;

/// Collective over the world. Computes the table, which is equal on all ranks.
/// All ranks of one position must hold the same tensors.
Status findLowestPositions(std::span<const StateTensor> tensors,
                           const Mesh &mesh, World &world,
                           LowestPositions &lowest);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
