//===- LoadCheckpoint.h - resuming a training run under any plan ----------===//

#ifndef PCC_RUNTIME_CHECKPOINT_LOADCHECKPOINT_H
#define PCC_RUNTIME_CHECKPOINT_LOADCHECKPOINT_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/comm/Communicator.h"
#include "status/Status.h"

#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Result of loading a checkpoint.
struct LoadedCheckpoint {
  /// Path of the checkpoint that was loaded.
  std::string folder;
  /// Step and sample at which the run continues.
  TrainingPosition position = {};
  /// Messages for the user about skipped checkpoints and ignored tensors. If
  /// only rank 3 finds that a checkpoint is damaged, only rank 3's message
  /// states the cause.
  std::vector<std::string> notes = {};
};

/// Fills the shards of `tensors` on all ranks from a checkpoint. All ranks must
/// call. Mesh, stages, ZeRO level and number of ranks may differ from the save.
///
/// All ranks load the same checkpoint: the newest in `directory` that every
/// rank can read. `directory` may also be a checkpoint itself. Further tensors
/// of the checkpoint are ignored with a note. Exit codes:
///
/// - 10: there is no checkpoint
/// - 11: all checkpoints are damaged
/// - 7: the only checkpoint cannot be read
/// - 6: the checkpoint belongs to another model (names, shapes or types differ)
///
/// After an error the content of `tensors` is undefined.
Status loadCheckpoint(const std::string &directory,
                      std::span<const StateTensor> tensors, const Mesh &mesh,
                      const Coordinates &at, World &world,
                      LoadedCheckpoint &loaded);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_LOADCHECKPOINT_H
