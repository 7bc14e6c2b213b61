//===- PublishCheckpoint.h - rank 0 makes parts a checkpoint --------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H
#define PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H

#include "runtime/checkpoint/FileChanges.h"
#include "runtime/checkpoint/Manifest.h"

#include <atomic>
#include <string>

namespace pcc::runtime {

/// Waits until all `manifest.world` ranks have reported their files in
/// `folder`, or that they failed, adds what they report to `manifest`, and
/// removes the reports. Exit code 14 names the ranks that have done neither by
/// the deadline, or when the save is given up.
Status collectRanks(const FileChanges &changes, const std::string &folder,
                    double timeout, const std::atomic<bool> &isGivenUp,
                    Manifest &manifest);

/// Writes the manifest to `folder` and gives that its name, `step`, in
/// `directory`, where `latest` names it from then on. Whenever this is
/// interrupted, a loader finds either a checkpoint that was there or this one.
Status publish(const FileChanges &changes, const std::string &directory,
               const std::string &folder, const std::string &step,
               const Manifest &manifest);

/// Removes what interrupted saves of other jobs have left, checkpoints that
/// have been replaced, and all but `step` and the `keep - 1` last others (none
/// if `keep` is 0). What cannot be removed stays until the next save.
void removeOldCheckpoints(const FileChanges &changes,
                          const std::string &directory, const std::string &step,
                          const std::string &job, int keep);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H
