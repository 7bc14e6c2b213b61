//===- PublishCheckpoint.h - publication of a checkpoint by rank 0 --------===//

#ifndef PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H
#define PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H

#include "runtime/checkpoint/FileChanges.h"
#include "runtime/checkpoint/Manifest.h"

#include <atomic>
#include <string>

namespace pcc::runtime {

/// Waits until each of the `manifest.world` ranks has written a report
/// (rank-NNN.json) or an error (rank-NNN.failed) to `folder`. Then merges the
/// reports into `manifest`, deletes the report files, and checks that the saved
/// pieces (sub-tensors) together hold every element.
///
/// Returns exit code 7 if a rank has written an error. Returns 14, with the
/// missing ranks, after `timeout` seconds or when another thread sets
/// `isGivenUp` to true.
Status collectRanks(const FileChanges &changes, const std::string &folder,
                    double timeout, const std::atomic<bool> &isGivenUp,
                    Manifest &manifest);

/// Makes a complete save visible to loaders. Writes the manifest to `folder`,
/// renames `folder` to `step` within `directory`, and writes `step` to the file
/// `latest`. Whenever a crash interrupts this sequence, a loader still finds a
/// complete checkpoint: a previous one or this one.
Status publish(const FileChanges &changes, const std::string &directory,
               const std::string &folder, const std::string &step,
               const Manifest &manifest);

/// Deletes three kinds of folders from `directory`:
///
/// - folders of unfinished saves of other jobs than `job`;
/// - folders named "….replaced";
/// - old checkpoints, unless `keep` is 0. The checkpoint `step` and the newest
///   `keep` - 1 other checkpoints (at least one) stay.
///
/// Errors are ignored, since the next save tries again.
void removeOldCheckpoints(const FileChanges &changes,
                          const std::string &directory, const std::string &step,
                          const std::string &job, int keep);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_PUBLISHCHECKPOINT_H
