//===- LoadCheckpoint.h - resumes a training run, on any plan -------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_LOADCHECKPOINT_H
#define PCC_RUNTIME_CHECKPOINT_LOADCHECKPOINT_H

#include "runtime/base/Status.h"
#include "runtime/checkpoint/TrainingState.h"
#include "runtime/comm/Communicator.h"

#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

struct LoadedCheckpoint {
  std::string folder; ///< the one that was taken
  TrainingPosition position = {};
  /// What the user should know: damaged checkpoints that were passed over,
  /// tensors that were left out. The same on all ranks but for the cause of a
  /// damage, which only the ranks that met it can tell.
  std::vector<std::string> notes = {};
};

/// Collective over the world. Fills the local pieces of `tensors` from the
/// newest checkpoint in `directory` that is complete and sound on all ranks;
/// padding becomes 0. `directory` may also be one checkpoint, which is then the
/// only one that is tried. Each rank reads the pieces that it needs, whatever
/// plan they were saved from, and verifies their checksums.
///
/// Exit codes: 10 if there is no checkpoint, 11 if all are damaged, 6 if the
/// checkpoint is of another model: a tensor is missing, is of another shape or
/// type, or a trained parameter of the checkpoint has no place here. Others
/// that have no place (another optimizer's state) are left out, with a note.
/// After an error the tensors hold anything.
Status loadCheckpoint(const std::string &directory,
                      std::span<const StateTensor> tensors, const Mesh &mesh,
                      const Coordinates &at, World &world,
                      LoadedCheckpoint &loaded);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_LOADCHECKPOINT_H
