//===- CheckpointFolder.h - names and order of checkpoint folders ---------===//
//
// A directory of checkpoints has one folder per saved step and a file `latest`
// that names the newest one. CheckpointWriter.h shows its content.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
#define PCC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Name of the manifest within a checkpoint.
inline constexpr char kManifestName[] = "manifest.json";
/// Name of the file, beside the checkpoints, that holds the name of the newest
/// one.
inline constexpr char kLatestName[] = "latest";

/// Returns the name of a step's checkpoint, such as "step-00000008".
std::string stepName(int64_t step);
/// Returns the name that an existing checkpoint of a step has while a new one
/// takes its place, such as "step-00000008.replaced". A folder of this name is
/// still a valid checkpoint.
std::string replacedName(const std::string &step);
/// Returns the name of a folder to which the save `job` writes before it is
/// renamed to `step`, such as "step-00000008.tmp-JOB".
std::string unfinishedName(const std::string &step, const std::string &job);

/// Returns the name of a file of one rank, such as "rank-003.safetensors".
/// `ending` is "safetensors" (data), "json" (report) or "failed" (error
/// message).
std::string rankFileName(int rank, const char *ending);

/// Appends the names of all checkpoints in `directory` to `names`, valid or
/// damaged, in the order in which a loader should try them: the one that
/// `latest` names, then the others by descending step. Returns exit code 10 if
/// the directory does not exist, 7 if it cannot be read.
Status listCheckpoints(const std::string &directory,
                       std::vector<std::string> &names);

/// Appends the paths of the checkpoints that a loader should try to `folders`.
/// If `directory` is itself a checkpoint, it is the only one; otherwise the
/// paths are those of listCheckpoints(). Returns exit code 10 if there is no
/// checkpoint, 7 if the directory cannot be read.
Status findCheckpoints(const std::string &directory,
                       std::vector<std::string> &folders);

/// Returns the names of unfinished saves in `directory`. They belong to saves
/// that are in progress or were interrupted.
std::vector<std::string> listUnfinished(const std::string &directory);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
