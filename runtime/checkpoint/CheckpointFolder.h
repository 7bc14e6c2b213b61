//===- CheckpointFolder.h - names and order of checkpoint folders ---------===//
//
// A directory of checkpoints has one folder per saved step and a file `latest`
// that names the newest one. CheckpointWriter.h shows its content.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
#define PCC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H

#include "status/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Name of the manifest file within the folder of a checkpoint. The manifest
/// (JSON) lists the saved tensors and where their bytes are.
inline constexpr char kManifestName[] = "manifest.json";
/// Name of the file in the directory of checkpoints whose text is the folder
/// name of the newest checkpoint, such as "step-00000008".
inline constexpr char kLatestName[] = "latest";

/// Returns the folder name of the checkpoint that was saved after training step
/// `step`, such as "step-00000008".
std::string stepName(int64_t step);
/// Returns the temporary name of an existing checkpoint folder `step` while a
/// new checkpoint of the same step replaces it, such as
/// "step-00000008.replaced". If the replacement is interrupted, a folder of
/// this name is still a valid checkpoint.
std::string replacedName(const std::string &step);
/// Returns the name of the folder to which a save writes until it is complete,
/// such as "step-00000008.tmp-JOB". `step` is the final name of the folder, and
/// `job` identifies the training run. After a complete save, the folder is
/// renamed to `step`.
std::string unfinishedName(const std::string &step, const std::string &job);

/// Returns the name of the file that rank `rank` writes into a checkpoint, such
/// as "rank-003.safetensors". `ending` is "safetensors" (tensor data), "json"
/// (report that the data is complete) or "failed" (error message).
std::string rankFileName(int rank, const char *ending);

/// Appends the names of all checkpoints in `directory` to `names`, valid or
/// damaged, in the order in which a loader should try them:
///
/// - the checkpoint that the file `latest` names;
/// - all others, newest first.
///
/// Returns exit code 10 if the directory does not exist, 7 if it cannot be
/// read.
Status listCheckpoints(const std::string &directory,
                       std::vector<std::string> &names);

/// Appends to `folders` the paths of the checkpoints that a loader should try,
/// best first. If `directory` contains a manifest, `directory` is the only
/// checkpoint. Otherwise the checkpoints are those of listCheckpoints().
/// Returns exit code 10 if there is no checkpoint, 7 if the directory cannot be
/// read.
Status findCheckpoints(const std::string &directory,
                       std::vector<std::string> &folders);

/// Returns the names of the folders in `directory` that belong to unfinished
/// saves, such as "step-00000008.tmp-JOB". An unfinished save is in progress or
/// was interrupted.
std::vector<std::string> listUnfinished(const std::string &directory);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
