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
  /// Progress of the training when the checkpoint was saved. `position.step` is
  /// the number of completed training steps. `position.samples` is the number
  /// of samples that these steps have consumed. For example, 3 steps of 8
  /// samples give `position.step` = 3 and `position.samples` = 24. This run
  /// continues with the sample that has the index 24.
  TrainingPosition position = {};
  /// Messages of this rank for the user. There is one message per checkpoint
  /// that was skipped because it is damaged or cannot be read, and one message
  /// if tensors of the loaded checkpoint were ignored.
  ///
  /// All ranks skip a checkpoint if at least one rank cannot load it. For
  /// example, only rank 3 finds that a file is damaged. The message on rank 3
  /// states the cause. The message on each other rank states that another rank
  /// cannot load the checkpoint.
  std::vector<std::string> notes = {};
};

/// Loads the newest checkpoint that every rank can read into `tensors`, this
/// rank's shards. All ranks must call the function. `directory` contains
/// checkpoints, or is one. The number of ranks and the mesh may have changed
/// since the save. After an error, `tensors` is undefined. Exit codes:
///
/// - 6: the checkpoint belongs to another model (names, shapes or types differ)
/// - 7: `directory`, or the only checkpoint in it, cannot be read
/// - 10: there is no checkpoint
/// - 11: the only checkpoint is damaged, or each of several is unreadable
Status loadCheckpoint(const std::string &directory,
                      std::span<const StateTensor> tensors, const Mesh &mesh,
                      const Coordinates &at, World &world,
                      LoadedCheckpoint &loaded);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_LOADCHECKPOINT_H
