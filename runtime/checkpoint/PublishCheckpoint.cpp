//===- PublishCheckpoint.cpp - publication of a checkpoint by rank 0 ------===//

#include "runtime/checkpoint/PublishCheckpoint.h"

#include "runtime/base/MappedFile.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/RankFile.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iomanip>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {

//===----------------------------------------------------------------------===//
// Waiting for the ranks
//===----------------------------------------------------------------------===//

static bool exists(const std::string &path) {
  return access(path.c_str(), F_OK) == 0;
}

namespace {
/// Waits until each rank has written one of two files to the folder of a new
/// checkpoint. NNN is the number of the rank:
///
/// - rank-NNN.json: a report that lists the data that the rank has saved
/// - rank-NNN.failed: the error message of a rank that could not save its data
///
/// The class checks repeatedly whether the files exist. The first pause between
/// two checks is 1 ms. Each later pause is twice as long, but at most 50 ms.
class Reports {
public:
  Reports(const std::string &folder, int firstRank, int64_t numRanks,
          double timeout, const std::atomic<bool> &isGivenUp)
      : folder(folder), timeout(timeout), isGivenUp(isGivenUp) {
    for (int rank = firstRank; rank < numRanks; ++rank)
      missing.push_back(rank);
  }

  /// Blocks until each rank has written one of two files. NNN is the number of
  /// the rank. A rank writes rank-NNN.json after it has saved its data. A rank
  /// writes rank-NNN.failed if it cannot save its data.
  ///
  /// Stops waiting after `timeout` seconds, or when another thread sets
  /// `isGivenUp` to true. Returns success if each rank has written
  /// rank-NNN.json. Exit codes of errors:
  ///
  /// - 7: At least one rank has written rank-NNN.failed.
  /// - 14: No rank has written rank-NNN.failed, but a rank has written no file
  ///   when the wait stops.
  Status wait() {
    begin = Clock::now();
    const auto limit = std::chrono::duration<double>(timeout);
    auto pause = std::chrono::milliseconds(1);
    for (;;) {
      std::erase_if(missing, [&](int rank) { return hasEnded(rank); });
      if (missing.empty())
        return failure;
      if (exists(failedName(folder)))
        return Status::error(InputOutput,
                             "a rank cannot save its part of the checkpoint, "
                             "and has no space to say why");
      if (Clock::now() - begin > limit || isGivenUp)
        return failure.failed() ? failure : tooLate();
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::milliseconds(50));
    }
  }

private:
  using Clock = std::chrono::steady_clock;

  /// Returns whether the rank with the number `rank` has written one of two
  /// files to `folder`. NNN is the number of the rank:
  ///
  /// - rank-NNN.json: The rank has saved its data.
  /// - rank-NNN.failed: The rank could not save its data. The file contains the
  ///   error message.
  ///
  /// If rank-NNN.failed exists, and `failure` has no error of another rank yet,
  /// the function stores the error of this rank in `failure`.
  bool hasEnded(int rank) {
    const std::string failed = folder + "/" + rankFileName(rank, "failed");
    if (!exists(failed))
      return exists(folder + "/" + rankFileName(rank, "json"));
    if (failure.ok())
      failure = failureOf(rank, failed);
    return true;
  }

  /// Returns an error (exit code 7) which states that the rank with the number
  /// `rank` cannot save its data. `path` is the path of the text file to which
  /// the rank has written its error message. The result contains this message.
  /// If the file is empty or cannot be read, the result contains no message of
  /// the rank.
  static Status failureOf(int rank, const std::string &path) {
    constexpr size_t mostBytes = 1 << 16;
    std::string why;
    if (readTextFile(path, mostBytes, why).failed())
      why.clear();
    return Status::error(InputOutput,
                         "rank " + std::to_string(rank) +
                             " cannot save its part of the checkpoint" +
                             (why.empty() ? "" : ": " + why));
  }

  /// Returns an error with exit code 14. wait() waits for a file of each rank:
  /// a report or an error message. wait() returns this error if it stops
  /// waiting before all files exist, and no file is an error message. The list
  /// `missing` has the numbers of the ranks that have written no file. The
  /// message of the error contains these numbers. If the list has more than 8
  /// numbers, the message contains the first 8 numbers and the count of the
  /// remaining numbers.
  Status tooLate() const {
    constexpr size_t most = 8;
    std::string ranks;
    for (size_t i = 0; i < std::min(most, missing.size()); ++i)
      ranks += (i > 0 ? ", " : "") + std::to_string(missing[i]);
    if (missing.size() > most)
      ranks += " and " + std::to_string(missing.size() - most) + " more";
    std::ostringstream seconds;
    seconds << std::setprecision(3)
            << std::chrono::duration<double>(Clock::now() - begin).count();
    return Status::error(PeerLost,
                         "rank 0: the checkpoint waited " + seconds.str() +
                             " s for the parts of " +
                             (missing.size() > 1 ? "ranks " : "rank ") + ranks +
                             " in '" + folder + "'");
  }

  const std::string &folder;
  const double timeout;
  const std::atomic<bool> &isGivenUp;
  Clock::time_point begin;
  /// Ranks that have not written a file yet: neither a report (rank-NNN.json)
  /// nor an error (rank-NNN.failed).
  std::vector<int> missing;
  Status failure = Status::success();
};
} // namespace

Status collectRanks(const FileChanges &changes, const std::string &folder,
                    double timeout, const std::atomic<bool> &isGivenUp,
                    Manifest &manifest, int firstRank) {
  PCC_RETURN_IF_ERROR(
      Reports(folder, firstRank, manifest.world, timeout, isGivenUp).wait());
  for (int rank = firstRank; rank < manifest.world; ++rank) {
    const std::string path = folder + "/" + rankFileName(rank, "json");
    Manifest report;
    Status status = readManifest(path, report);
    if (status.ok())
      status = merge(manifest, std::move(report));
    if (status.ok())
      status = changes.remove(path);
    if (status.failed())
      return status;
  }
  const std::string fault = findPiecesFault(manifest);
  return fault.empty() ? Status::success() : Status::error(Defect, fault);
}

//===----------------------------------------------------------------------===//
// Publication
//===----------------------------------------------------------------------===//

/// Returns whether a checkpoint may have a file with the name `name`, perhaps
/// with an ending, as an unfinished file has one.
static bool belongsToCheckpoint(const std::string &name) {
  return name.starts_with(kManifestName) || name.starts_with("rank-");
}

/// Checks that the folder of a checkpoint at `path`, and that of the one which
/// it has replaced, hold nothing else. Returns an error with exit code 7 if one
/// holds a file of the user. A folder that does not exist is no error.
static Status checkReplaceable(const std::string &path) {
  std::error_code error;
  for (const std::string &folder : {path, replacedName(path)})
    for (const auto &entry : std::filesystem::directory_iterator(folder, error))
      if (const std::string name = entry.path().filename();
          !belongsToCheckpoint(name) || !entry.is_regular_file(error))
        return Status::error(InputOutput,
                             "cannot replace '" + folder + "': it holds '" +
                                 name + "', which is not part of a checkpoint",
                             {"move '" + name + "' or save to another folder"});
  return Status::success();
}

/// Frees the path `path` for the folder of a new checkpoint. If an older
/// checkpoint is at `path`, the function appends ".replaced" to the name of its
/// folder. For example, "step-00000008" becomes "step-00000008.replaced". The
/// content of the folder stays unchanged, and a run can still load it. If
/// another folder already has the new name, the function deletes that folder
/// first.
static Status makeRoom(const FileChanges &changes, const std::string &path) {
  if (!exists(path))
    return Status::success();
  PCC_RETURN_IF_ERROR(checkReplaceable(path));
  PCC_RETURN_IF_ERROR(changes.remove(replacedName(path)));
  return changes.rename(path, replacedName(path));
}

/// Makes a new checkpoint visible to loaders: writes the manifest to `folder`,
/// renames `folder` to the name `step` in `directory`, and writes this name to
/// the file `latest`. The order of these changes matters. All files are synced
/// before the rename, so a folder with the name `step` is complete, even if the
/// machine crashes. The rename is synced before the file `latest` changes.
Status publish(const FileChanges &changes, const std::string &directory,
               const std::string &folder, const std::string &step,
               const Manifest &manifest) {
  const std::string path = directory + "/" + step;
  Status status =
      changes.replaceFile(folder + "/" + kManifestName, toJson(manifest));
  if (status.ok())
    status = changes.syncFolder(folder);
  if (status.ok())
    status = makeRoom(changes, path);
  if (status.ok())
    status = changes.rename(folder, path);
  if (status.ok())
    status = changes.syncFolder(directory);
  if (status.ok())
    status = changes.replaceFile(directory + "/" + kLatestName, step + "\n");
  if (status.ok())
    status = changes.syncFolder(directory);
  return status;
}

//===----------------------------------------------------------------------===//
// Removal of old checkpoints
//===----------------------------------------------------------------------===//

void removeOldCheckpoints(const FileChanges &changes,
                          const std::string &directory, const std::string &step,
                          const std::string &job, int keep) {
  const auto pathOf = [&](const std::string &name) {
    return directory + "/" + name;
  };
  // Delete the folders of unfinished saves of other training runs. Keep the
  // folders of unfinished saves of this training run. Their names contain
  // `job`. For example, rank 0 has just finished the save of step 8, and rank 1
  // already writes to the folder of step 16.
  for (const std::string &name : listUnfinished(directory))
    if (name.find(unfinishedName("", job)) == name.npos)
      (void)changes.remove(pathOf(name));
  std::vector<std::string> names;
  if (listCheckpoints(directory, names).failed())
    return;
  for (const std::string &name : std::vector(names))
    if (std::erase(names, replacedName(name)) > 0)
      (void)changes.remove(pathOf(replacedName(name)));
  if (keep == 0)
    return;
  std::erase(names, step);
  for (size_t i = size_t(std::max(keep, 2)) - 1; i < names.size(); ++i) {
    // Delete an old checkpoint in two steps. First rename the folder of the
    // checkpoint, for example from "step-00000004" to
    // "step-00000004.tmp-removed". Then delete the folder. The run may be
    // killed during the deletion. The folder then lacks some of its files.
    // Loaders ignore the folder, because they ignore names with ".tmp-".
    const std::string doomed = pathOf(unfinishedName(names[i], "removed"));
    if (changes.rename(pathOf(names[i]), doomed).ok())
      (void)changes.remove(doomed);
  }
}

} // namespace pcc::runtime
