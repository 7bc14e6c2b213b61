//===- LowestPositions.h - which positions hold which tensors -------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
#define PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/comm/Communicator.h"

#include <map>
#include <span>
#include <string>

namespace pcc::runtime {

/// By name the lowest position, that is coordinate on the first axis, whose
/// ranks hold the tensor.
using LowestPositions = std::map<std::string, int64_t>;

/// Collective over the world. The ranks of one position hold the same tensors.
Status findLowestPositions(std::span<const StateTensor> tensors,
                           const Mesh &mesh, World &world,
                           LowestPositions &lowest);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
