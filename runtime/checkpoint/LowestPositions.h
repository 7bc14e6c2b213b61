//===- LowestPositions.h - pipeline positions that hold each tensor -------===//

#ifndef PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
#define PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/comm/Communicator.h"

#include <map>
#include <span>
#include <string>

namespace pcc::runtime {

/// Map from the name of a tensor to a coordinate on the pipeline axis (mesh
/// axis 0): the lowest among all ranks that hold the tensor. For example, the
/// ranks at coordinates 0 and 3 share an embedding. Its entry is 0, and only
/// ranks at coordinate 0 save it.
using LowestPositions = std::map<std::string, int64_t>;

/// Sets `lowest` to a map with all tensors of the run: from the tensor's name
/// to the lowest pipeline coordinate of a rank that holds the tensor. All ranks
/// must call, each with its own tensors, and get equal maps. Ranks with the
/// same pipeline coordinate must pass the same tensors.
Status findLowestPositions(std::span<const StateTensor> tensors,
                           const Mesh &mesh, World &world,
                           LowestPositions &lowest);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
