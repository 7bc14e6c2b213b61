//===- PublishCheckpoint.h - publication of a checkpoint by rank 0 --------===//

#ifndef PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H
#define PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H

#include "runtime/checkpoint/FileChanges.h"
#include "runtime/checkpoint/Manifest.h"

#include <atomic>
#include <string>

namespace pcc::runtime {

/// Waits until each of the `manifest.world` ranks has written its file to
/// `folder`: a report (rank-NNN.json) or an error (rank-NNN.failed). Merges the
/// reports into `manifest`, and checks that no element is missing. Exit codes:
///
/// - 7: a rank has written an error
/// - 14: ranks are missing after `timeout` seconds, or `isGivenUp` became true
Status collectRanks(const FileChanges &changes, const std::string &folder,
                    double timeout, const std::atomic<bool> &isGivenUp,
                    Manifest &manifest);

/// Makes a complete save visible to loaders: writes the manifest to `folder`,
/// renames `folder` to `step` in `directory`, and writes `step` to the file
/// `latest`. If a crash interrupts this, a loader finds the previous checkpoint
/// or this one.
Status publish(const FileChanges &changes, const std::string &directory,
               const std::string &folder, const std::string &step,
               const Manifest &manifest);

/// Deletes three kinds of folders from `directory`, and ignores errors:
///
/// - unfinished saves of other training runs than `job`;
/// - an old checkpoint "STEP.replaced", if the new checkpoint STEP exists;
/// - all checkpoints except for the newest `keep`, of which `step` is one. 0
///   keeps all; 1 is treated as 2.
void removeOldCheckpoints(const FileChanges &changes,
                          const std::string &directory, const std::string &step,
                          const std::string &job, int keep);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H
