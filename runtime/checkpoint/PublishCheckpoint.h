//===- PublishCheckpoint.h - publication of a checkpoint by rank 0 --------===//

#ifndef PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H
#define PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H

#include "runtime/checkpoint/FileChanges.h"
#include "runtime/checkpoint/Manifest.h"

#include <atomic>
#include <string>

namespace pcc::runtime {

/// Waits until each rank has written one of two files to `folder`. The number
/// of ranks is `manifest.world`, and NNN is the number of a rank:
///
/// - rank-NNN.json: a report that lists the data that the rank has saved
/// - rank-NNN.failed: the error message of a rank that could not save its data
///
/// Then adds the content of all reports to `manifest`, deletes the reports, and
/// checks that every element of every tensor was saved once. The wait stops
/// after `timeout` seconds, or when another thread sets `isGivenUp` to true.
/// Exit codes:
///
/// - 1: An element was not saved, or was saved twice.
/// - 7: A rank could not save its data, or a report cannot be read or deleted.
/// - 11: A report is invalid, or contradicts the report of another rank.
/// - 14: A rank has written no file when the wait stops, and no rank has
///   written an error message.
Status collectRanks(const FileChanges &changes, const std::string &folder,
                    double timeout, const std::atomic<bool> &isGivenUp,
                    Manifest &manifest);

/// Makes a new checkpoint visible to loaders. The ranks have written their data
/// to a folder with a temporary name. `folder` is the path of this folder.
/// `directory` is the path of the directory of all checkpoints. `step` is the
/// final name of the folder, such as "step-00000008". The function has three
/// steps:
///
/// - Write the manifest to `folder`. The manifest is the JSON file that
///   describes the checkpoint.
/// - Rename the folder from its temporary name to the name `step`. If an older
///   checkpoint already has this name, the function first appends ".replaced"
///   to the name of the older checkpoint.
/// - Write the name `step` to the file with the name "latest" in `directory`. A
///   loader first tries to load the checkpoint that this file names.
///
/// The machine may crash during the function. A loader then finds either the
/// new checkpoint or the previous checkpoint, but never an incomplete one.
Status publish(const FileChanges &changes, const std::string &directory,
               const std::string &folder, const std::string &step,
               const Manifest &manifest);

/// Deletes three kinds of folders from `directory`, which contains the
/// checkpoints of a training run. Ignores errors.
///
/// - Unfinished saves of other training runs. `job` identifies this training
///   run.
/// - Replaced checkpoints. If step 8 is saved again, the old checkpoint is
///   renamed to "step-00000008.replaced". The function deletes this folder if
///   the new checkpoint "step-00000008" exists.
/// - Old checkpoints. `step` is the folder name of the checkpoint that was just
///   saved. The function keeps `keep` checkpoints and deletes all others. For
///   example, if `keep` is 3, the function keeps the checkpoint `step` and the
///   2 newest other checkpoints. If `keep` is 0, the function deletes no old
///   checkpoint. A `keep` of 1 is treated as 2.
void removeOldCheckpoints(const FileChanges &changes,
                          const std::string &directory, const std::string &step,
                          const std::string &job, int keep);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H
