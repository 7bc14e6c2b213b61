//===- PublishCheckpoint.h - publication of a checkpoint by rank 0 --------===//

#ifndef PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H
#define PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H

#include "runtime/checkpoint/FileChanges.h"
#include "runtime/checkpoint/Manifest.h"

#include <atomic>
#include <string>

namespace pcc::runtime {

/// Waits until each of `manifest.world` ranks has written a report
/// (rank-NNN.json) or an error message (rank-NNN.failed) to `folder`. Adds the
/// reports to `manifest`, and deletes them. The wait ends after `timeout`
/// seconds, or when another thread sets `isGivenUp` to true. Exit codes:
///
/// - 1: An element was not saved, or was saved twice.
/// - 7: A rank could not save its data, or a report cannot be read or deleted.
/// - 11: A report is invalid, or contradicts another report.
/// - 14: A rank has written no file when the wait ends.
///
/// Waits only for the ranks from `firstRank` on.
Status collectRanks(const FileChanges &changes, const std::string &folder,
                    double timeout, const std::atomic<bool> &isGivenUp,
                    Manifest &manifest, int firstRank);

/// Makes a new checkpoint visible to loaders. The ranks have written their data
/// to `folder`, which has a temporary name. The function writes the manifest to
/// `folder`, renames `folder` to the name `step`, such as "step-00000008", in
/// `directory`, and writes this name to the file `latest`. If an older
/// checkpoint has the name `step`, ".replaced" is first appended to its name.
///
/// The machine may crash during the function. A loader then finds the new or
/// the previous checkpoint, but never an incomplete one.
Status publish(const FileChanges &changes, const std::string &directory,
               const std::string &folder, const std::string &step,
               const Manifest &manifest);

/// Deletes three kinds of folders from `directory`, which contains the
/// checkpoints of a training run. Ignores errors.
///
/// - Unfinished saves of other training runs. `job` identifies this run.
/// - Replaced checkpoints ("step-00000008.replaced"), if a new checkpoint of
///   the same step exists.
/// - Old checkpoints. The function keeps `step`, which was just saved, and the
///   `keep` - 1 newest of the other checkpoints. If `keep` is 0, it keeps all.
///   A `keep` of 1 counts as 2.
void removeOldCheckpoints(const FileChanges &changes,
                          const std::string &directory, const std::string &step,
                          const std::string &job, int keep);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H
