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

/// Finds the lowest coordinate on the pipeline axis (mesh axis 0) at which
/// ranks hold a tensor, for each tensor of the run. `lowest` becomes a map from
/// the name of the tensor to this coordinate. For example, the ranks at the
/// coordinates 0 and 3 hold the tensor "table", and the ranks at the coordinate
/// 2 hold the tensor "w". `lowest` then becomes {"table": 0, "w": 2}.
///
/// `tensors` lists the tensors that this rank holds, and `mesh` is the mesh of
/// the program. Ranks with the same pipeline coordinate must pass the same
/// list. The function is collective: every rank of `world` must call it. All
/// ranks get the same map.
Status findLowestPositions(std::span<const StateTensor> tensors,
                           const Mesh &mesh, World &world,
                           LowestPositions &lowest);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_LOWESTPOSITIONS_H
