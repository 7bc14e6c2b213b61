//===- CheckpointWriter.h - saves the state of a training run -------------===//
//
// What a save leaves in the folder of checkpoints:
//
//   step-00000008.tmp-JOB/   while it is written:
//     rank-003.safetensors   what rank 3 owns
//     rank-003.json          rank 3 has written its file, and what is in it
//   step-00000008/           in the end; appears whole, by one rename
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

struct CheckpointOptions {
  std::string directory; ///< of all checkpoints of the run; made if absent
  /// Write while training goes on. Costs a copy of what the rank owns.
  bool inBackground = false;
  /// Complete checkpoints to keep, the new one included, at least 2; 0: all.
  int keep = 0;
  /// Seconds that rank 0 waits for the others' files.
  double timeout = 600;
  // For information, and for `pcc checkpoint export`.
  std::string model = {};       ///< canonical path of the model's file
  std::string weightsRoot = {}; ///< canonical
  uint64_t planHash = 0;
  /// Told before each change of the file system what it is ("write", "sync",
  /// "rename", …) and of which path. May be empty.
  std::function<void(const char *change, const std::string &path)> onChange =
      {};
};

/// Saves the tensors of one rank, again and again. One object per rank; all
/// ranks call `open`, `save` and `finish` alike.
///
/// Only `open` communicates. Later the ranks meet through files in the folder,
/// so a save never disturbs the collectives of the engine. Any error has exit
/// code 7, unless it says otherwise, and leaves nothing under a final name.
class CheckpointWriter {
public:
  CheckpointWriter();
  /// Ends the last save: what this rank writes is written, but no other rank is
  /// waited for.
  ~CheckpointWriter();

  /// Collective over the world. Decides who owns which piece, makes the folder,
  /// and refuses one that not all ranks see or that another run saves to.
  Status open(const CheckpointOptions &options,
              std::span<const StateTensor> tensors, const Mesh &mesh,
              const Coordinates &at, World &world);

  /// Saves what the tensors hold now as the checkpoint of `position.step`; one
  /// that is there already is replaced. On return the tensors may change.
  ///
  /// Rank 0 returns when the checkpoint is complete, the others when their part
  /// is. In the background all return at once, unless the save before this one
  /// is still going on, which they wait for; its error is returned here.
  Status save(const TrainingPosition &position);

  /// The error of a save in the background that has ended; waits for nothing.
  Status check();

  /// Waits for the last save, and returns its error.
  Status finish();

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_CHECKPOINTWRITER_H
