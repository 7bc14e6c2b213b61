//===- LowestPositions.h - pipeline positions that hold each tensor -------===//

#ifndef PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
#define PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/comm/Communicator.h"

#include <map>
#include <span>
#include <string>

namespace pcc::runtime {

/// Map from the name of a tensor to the lowest coordinate on the pipeline axis
/// (mesh axis 0) of all ranks that hold the tensor. Ranks of several pipeline
/// coordinates can hold one tensor, for example a weight that the first and the
/// last stage share. Only the ranks with the lowest coordinate save the tensor.
using LowestPositions = std::map<std::string, int64_t>;

/// Sets `lowest` to the map for all tensors that any rank holds; the result is
/// equal on all ranks. Must be called by all ranks of the world. Ranks with the
/// same pipeline coordinate must pass the same tensors.
Status findLowestPositions(std::span<const StateTensor> tensors,
                           const Mesh &mesh, World &world,
                           LowestPositions &lowest);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
