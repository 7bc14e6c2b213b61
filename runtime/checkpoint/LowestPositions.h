//===- LowestPositions.h - pipeline positions that hold each tensor -------===//

#ifndef PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
#define PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/comm/Communicator.h"

#include <map>
#include <span>
#include <string>

namespace pcc::runtime {

/// Map from the name of a tensor to the lowest pipeline position (virtual
/// pipeline rank) whose ranks hold the tensor. The pipeline position of a rank
/// is its coordinate on mesh axis 0. Ranks of several pipeline positions can
/// hold one tensor, for example a weight that the first and the last stage
/// share. Only the ranks of the lowest pipeline position then save the tensor.
using LowestPositions = std::map<std::string, int64_t>;

/// Sets `lowest` to the map for all tensors that any rank holds; the result is
/// equal on all ranks. Must be called by all ranks of the world. Ranks of the
/// same pipeline position must pass the same tensors.
Status findLowestPositions(std::span<const StateTensor> tensors,
                           const Mesh &mesh, World &world,
                           LowestPositions &lowest);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
