//===- CheckpointWriter.h - sharded checkpoints of a training run ---------===//
//
// Files in the directory of checkpoints:
//
//   step-00000008.tmp-JOB/   during a save:
//     rank-003.safetensors   pieces that rank 3 owns
//     rank-003.json          report of rank 3: its file is complete
//   step-00000008/           after the save; appears by one rename
//     rank-003.safetensors
//     manifest.json
//   latest                   "step-00000008"
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H
#define PCC_RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H

#include "runtime/base/Status.h"
#include "runtime/checkpoint/TrainingState.h"
#include "runtime/comm/Communicator.h"

#include <functional>
#include <memory>
#include <span>

namespace pcc::runtime {

/// Options of the checkpoints of one run; equal on all ranks.
struct CheckpointOptions {
  /// Directory of all checkpoints of the run; created if it does not exist.
  std::string directory;
  /// Whether to write files while training continues. This needs memory for a
  /// copy of the pieces that the rank owns.
  bool inBackground = false;
  /// Number of complete checkpoints to keep, the new one included; values below
  /// 2 count as 2, except that 0 keeps all.
  int keep = 0;
  /// Seconds that rank 0 waits for the reports of all ranks.
  double timeout = 600;
  /// Canonical path of the model's file. Like the two members below, it is
  /// recorded for information and for `pcc checkpoint export`.
  std::string model = {};
  /// Canonical path of the folder of the model's weights.
  std::string weightsRoot = {};
  /// Hash of the plan, equal in all programs of a bundle.
  uint64_t planHash = 0;
  /// Listener that is called before each change of the file system with the
  /// kind of change ("write", "sync", "rename", …) and the path. May be empty;
  /// tests use it to inject crashes.
  std::function<void(const char *change, const std::string &path)> onChange =
      {};
};

/// Saves the training state repeatedly. Each rank has one object, and all ranks
/// must call open(), save() and finish() in the same order.
///
/// Only open() communicates through the World. During saves the ranks
/// synchronize through files in the checkpoint's folder. A save in the
/// background therefore never interferes with the collectives of the training
/// step.
///
/// Methods return exit code 7 if they cannot save, 14 if a rank does not report
/// in time, and 13 if there is no memory for a copy. After an error no
/// incomplete checkpoint has a final name.
class CheckpointWriter {
public:
  CheckpointWriter();
  /// Waits until this rank has written its part of the last save. Rank 0 stops
  /// waiting for other ranks, so the last save may stay unfinished; finish()
  /// avoids that.
  ~CheckpointWriter();

  /// Collective over the world. Determines which pieces this rank owns and
  /// creates the directory. Fails on all ranks if the ranks do not share the
  /// directory, or if another run is saving to it. The tensors' data is
  /// borrowed and must outlive this object.
  Status open(const CheckpointOptions &options,
              std::span<const StateTensor> tensors, const Mesh &mesh,
              const Coordinates &at, World &world);

  /// Saves the current content of the tensors as the checkpoint of
  /// `position.step`. An existing checkpoint of that step is replaced. The
  /// tensors may change after the return.
  ///
  /// In the foreground, rank 0 returns when the checkpoint is complete, every
  /// other rank when its own part is written. In the background, all ranks
  /// return after copying their pieces. If the previous save is still in
  /// progress, the call waits for it first and returns its error, if any,
  /// without saving.
  Status save(const TrainingPosition &position);

  /// Returns the error of a background save that has ended since the last call;
  /// success if none has ended. Does not block.
  Status check();

  /// Waits for the save in progress and returns its error.
  Status finish();

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H
