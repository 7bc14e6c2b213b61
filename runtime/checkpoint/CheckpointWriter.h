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
  /// Each rank then needs memory for a copy of the sub-tensors that it saves.
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
  /// Canonical path of the folder to which the paths of the model's weight
  /// files are relative. The path is stored in the checkpoint. A run that loads
  /// the checkpoint ignores the path.
  std::string weightsRoot = {};
  /// Hash of the bundle that the run executes. The compiler has computed the
  /// hash from the programs of all ranks, the compiled kernels and the runtime.
  /// The hash is equal on all ranks. The hash is stored in the checkpoint. A
  /// run that loads the checkpoint ignores the hash.
  uint64_t planHash = 0;
  /// Function that the writer calls before each change of the file system.
  /// `change` is the kind of the change: "make", "create", "write", "sync",
  /// "rename" or "remove". `path` is the path of the file or folder that is
  /// about to change. Tests use the function to simulate a crash before a
  /// change. The function may be empty; then the writer calls no function.
  std::function<void(const char *change, const std::string &path)> onChange =
      {};
};

/// Saves the training state of a run as checkpoints. Each rank of the run
/// creates one CheckpointWriter. All ranks must call open(), save() and
/// finish() in the same order. If CheckpointOptions::inBackground is true, a
/// background thread writes the files. This thread sends no messages to other
/// ranks, and so does not disturb the collectives of training. Exit codes of
/// the functions:
///
/// - 7: The checkpoint cannot be written.
/// - 13: There is no memory for the copies that a background save needs.
/// - 14: A rank has not completed its file within the time limit.
class CheckpointWriter {
public:
  CheckpointWriter();
  /// Blocks until this rank has written its file of the last save. Does not
  /// wait for the files of other ranks. Call finish() first to complete the
  /// last save.
  ~CheckpointWriter();

  /// Prepares all later saves. The function creates the directory
  /// `options.directory` if the directory does not exist. The function is
  /// collective: every rank of the communicator `world` must call it. The
  /// result is an error on all ranks if the ranks do not share one directory,
  /// or if another training run saves to the directory.
  ///
  /// `tensors` lists this rank's shards of the training state. The object does
  /// not copy the elements of the shards. The memory of the shards must
  /// therefore exist as long as this object, and so must `world`. `mesh` is the
  /// mesh of the program, and `at` has this rank's coordinates on the mesh.
  Status open(const CheckpointOptions &options,
              std::span<const StateTensor> tensors, const Mesh &mesh,
              const Coordinates &at, World &world);

  /// Saves the tensors as the checkpoint of training step `position.step`.
  /// First waits until the previous background save has ended on all ranks. If
  /// it failed, returns its error on all ranks, and saves nothing. The caller
  /// may change the tensors after the function has returned.
  ///
  /// If CheckpointOptions::inBackground is true, the function only copies the
  /// tensors, and a background thread saves the copies. Otherwise this rank's
  /// file is complete when the function returns. On rank 0, the checkpoint is
  /// complete too.
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
