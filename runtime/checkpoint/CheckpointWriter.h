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

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/comm/Communicator.h"
#include "status/Status.h"

#include <functional>
#include <memory>
#include <span>

namespace pcc::runtime {

/// Options of the checkpoints of one run; equal on all ranks.
struct CheckpointOptions {
  /// Directory of all checkpoints of the run; created if it does not exist.
  std::string directory;
  /// Whether files are written by a background thread while training continues.
  /// Each rank then needs memory for a copy of the tensor pieces that it saves.
  bool inBackground = false;
  /// Number of complete checkpoints to keep in the directory, including the new
  /// one. Older ones are deleted. 0 keeps all; 1 is treated as 2.
  int keep = 0;
  /// Longest time, in seconds, for which rank 0 waits until every rank has
  /// reported that its file is complete. After this time the save fails.
  double timeout = 600;
  /// Canonical path of the model's file. The path is stored in the checkpoint.
  /// To write an .onnx file, `pcc checkpoint export` reads the model at this
  /// path, unless the user names another model. A run that loads the checkpoint
  /// ignores the path.
  std::string model = {};
  /// Canonical path of the folder of the model's weights. It is only recorded
  /// in the checkpoint.
  std::string weightsRoot = {};
  /// Hash of the plan (shardings and stages) that the bundle was compiled for.
  /// It is equal in the programs of all ranks, and only recorded in the
  /// checkpoint.
  uint64_t planHash = 0;
  /// Function that the writer calls before each change of the file system.
  /// `change` is the kind of the change: "make", "create", "write", "sync",
  /// "rename" or "remove". `path` is the path of the file or folder that is
  /// about to change. Tests use the function to simulate a crash before a
  /// change. The function may be empty; then the writer calls no function.
  std::function<void(const char *change, const std::string &path)> onChange =
      {};
};

/// Saves the training state of a run, once or repeatedly. Each rank has one
/// object. All ranks must call open(), save() and finish() in the same order.
///
/// Saves synchronize through files, not messages: a background save never
/// disturbs the collectives of a training step. Exit codes:
///
/// - 7: cannot save
/// - 13: no memory for the copies of a background save
/// - 14: a rank does not report in time
class CheckpointWriter {
public:
  CheckpointWriter();
  /// Blocks until this rank has written its file of the last save. Does not
  /// wait for the files of other ranks. Call finish() first to complete the
  /// last save.
  ~CheckpointWriter();

  /// Prepares all later saves of `tensors`. All ranks must call. Creates the
  /// directory of checkpoints. Fails on all ranks if they do not share the
  /// directory, or if another run saves to it. The data of `tensors` is
  /// borrowed.
  Status open(const CheckpointOptions &options,
              std::span<const StateTensor> tensors, const Mesh &mesh,
              const Coordinates &at, World &world);

  /// Saves the tensors as the checkpoint of training step `position.step`.
  /// First waits for the previous save; if that failed, only returns its error.
  /// The tensors may change after the return. A call returns:
  ///
  /// - in the foreground, on rank 0: when the whole checkpoint is complete;
  /// - in the foreground, on other ranks: when this rank's file is written;
  /// - in the background: when this rank has copied its elements.
  Status save(const TrainingPosition &position);

  /// Returns the error of a background save that has ended, without blocking.
  /// Each error is returned once. Returns success while the save is in
  /// progress.
  Status check();

  /// Blocks until the last background save has ended, and returns its error.
  /// Each error is returned once.
  Status finish();

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H
