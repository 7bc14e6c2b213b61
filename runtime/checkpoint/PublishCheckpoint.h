//===- PublishCheckpoint.h - publication of a checkpoint by rank 0 --------===//

#ifndef PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H
#define PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H

#include "runtime/checkpoint/FileChanges.h"
#include "runtime/checkpoint/Manifest.h"

#include <atomic>
#include <string>

namespace pcc::runtime {

/// Waits until all `manifest.world` ranks have left a report or an error in
/// `folder`. Then merges the reports into `manifest`, removes them, and checks
/// that the pieces are complete. The wait polls files; it ends after `timeout`
/// seconds or when `isGivenUp` becomes true. Returns exit code 14 with the
/// missing ranks if the wait ends early, and 7 if a rank reported an error.
Status collectRanks(const FileChanges &changes, const std::string &folder,
                    double timeout, const std::atomic<bool> &isGivenUp,
                    Manifest &manifest);

/// Writes the manifest to `folder`, renames the folder to `step` in
/// `directory`, and makes `latest` name it. At every moment of a crash or an
/// interruption, a loader finds a complete checkpoint: a previous one or this
/// one.
Status publish(const FileChanges &changes, const std::string &directory,
               const std::string &folder, const std::string &step,
               const Manifest &manifest);

/// Removes unfinished saves of other jobs, replaced checkpoints, and old
/// checkpoints. `step` and the `keep - 1` last other checkpoints stay (at least
/// one other); `keep` = 0 keeps all. Errors are ignored, since the next save
/// tries again.
void removeOldCheckpoints(const FileChanges &changes,
                          const std::string &directory, const std::string &step,
                          const std::string &job, int keep);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H
