//===- LowestPositions.h - pipeline ranks that hold each tensor -----------===//

#ifndef PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
#define PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/comm/Communicator.h"

#include <map>
#include <span>
#include <string>

namespace pcc::runtime {

/// Map with one entry per tensor. The key is the name of the tensor. The value
/// is the lowest coordinate on the pipeline axis (mesh axis 0) at which ranks
/// hold the tensor. For example, the ranks at the coordinates 0 and 3 hold the
/// same embedding table. The map has the value 0 for the table, and only ranks
/// at the coordinate 0 write the table to a checkpoint.
using LowestPositions = std::map<std::string, int64_t>;

/// Sets `lowest` to a map that has one entry for every tensor that any rank
/// holds. The entry maps the name of the tensor to a coordinate on the pipeline
/// axis (mesh axis 0): the lowest coordinate at which ranks hold the tensor.
///
/// All ranks must call this function, and all ranks get the same map. Each rank
/// passes the list of the tensors that it holds as `tensors`. Ranks with the
/// same pipeline coordinate must pass the same list.
Status findLowestPositions(std::span<const StateTensor> tensors,
                           const Mesh &mesh, World &world,
                           LowestPositions &lowest);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
