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

/// Loads a checkpoint into this rank's shards of `tensors`. All ranks must
/// call. The mesh, the stages, the ZeRO level and the number of ranks may
/// differ from the run that saved the checkpoint.
///
/// `directory` contains checkpoints, or is itself a checkpoint. All ranks load
/// the same checkpoint: the newest one that every rank can read. The checkpoint
/// may contain tensors that no rank of this run holds. If such a tensor is a
/// trained parameter, the result is exit code 6. Any other such tensor is
/// ignored with a message in `loaded.notes`.
///
/// Exit codes:
///
/// - 6: The checkpoint belongs to another model: the names, shapes or types of
///   the tensors differ.
/// - 7: `directory` cannot be read, or `directory` has only one checkpoint and
///   the checkpoint cannot be read.
/// - 10: There is no checkpoint.
/// - 11: The only checkpoint is damaged, or each of several checkpoints is
///   damaged or cannot be read.
///
/// After an error the content of `tensors` is undefined.
Status loadCheckpoint(const std::string &directory,
                      std::span<const StateTensor> tensors, const Mesh &mesh,
                      const Coordinates &at, World &world,
                      LoadedCheckpoint &loaded);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_LOADCHECKPOINT_H
