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
  /// Messages for the user about damaged checkpoints that were skipped, and
  /// about tensors of the checkpoint that were ignored. All ranks have the same
  /// messages, with one exception: only a rank that found a damage itself
  /// reports the cause of the damage.
  std::vector<std::string> notes = {};
};

/// Fills each rank's shards of `tensors` from a checkpoint. Must be called by
/// all ranks of the world. The checkpoint may have been saved under another
/// plan: other mesh axes, pipeline stages, ZeRO levels or number of ranks.
///
/// All ranks load the same checkpoint: the newest one in `directory` that every
/// rank can read completely. If `directory` is itself a checkpoint, only
/// `directory` is tried. Each rank reads only the saved pieces (sub-tensors)
/// that overlap its own shards, verifies their checksums, and sets padding to
/// 0.
///
/// Exit codes:
///
/// - 10 if there is no checkpoint;
/// - 11 if all checkpoints are damaged;
/// - 7 if the only checkpoint cannot be read;
/// - 6 if the checkpoint belongs to another model: a tensor is missing or has
///   another shape or type, or a trained parameter of the checkpoint does not
///   exist in this run.
///
/// The checkpoint may have further tensors that this run lacks, such as the
/// state of another optimizer. They are ignored with a note. After an error the
/// content of `tensors` is undefined.
Status loadCheckpoint(const std::string &directory,
                      std::span<const StateTensor> tensors, const Mesh &mesh,
                      const Coordinates &at, World &world,
                      LoadedCheckpoint &loaded);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_LOADCHECKPOINT_H
