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
/// Name of the file whose text is the folder name of the newest checkpoint,
/// such as "step-00000008". The file lies beside the checkpoint folders.
inline constexpr char kLatestName[] = "latest";

/// Returns the folder name of the checkpoint that was saved after training step
/// `step`, such as "step-00000008".
std::string stepName(int64_t step);
/// Returns the name that an existing checkpoint gets while a new checkpoint of
/// the same step replaces it, such as "step-00000008.replaced". A folder with
/// this name is still a valid checkpoint.
std::string replacedName(const std::string &step);
/// Returns the folder name of a checkpoint that is being written, such as
/// "step-00000008.tmp-JOB". `step` is the name of the complete checkpoint,
/// "step-00000008". `job` identifies the training run.
std::string unfinishedName(const std::string &step, const std::string &job);

/// Returns the name of the file that rank `rank` writes into a checkpoint, such
/// as "rank-003.safetensors". `ending` is "safetensors" (tensor data), "json"
/// (report that the data is complete) or "failed" (error message).
std::string rankFileName(int rank, const char *ending);

/// Appends the names of all checkpoints in `directory`, valid or damaged, to
/// `names`. The first is the checkpoint that the file `latest` names; all
/// others follow, newest first. Returns exit code 10 if there is no such
/// directory, 7 if it cannot be read.
Status listCheckpoints(const std::string &directory,
                       std::vector<std::string> &names);

/// Appends the paths of checkpoints to `folders`, in the order in which a
/// loader tries them:
///
/// - if `directory` contains a manifest: only `directory`, which is itself a
///   checkpoint;
/// - if it contains none: the checkpoints of listCheckpoints().
///
/// Returns exit code 10 if there is no checkpoint, 7 if `directory` cannot be
/// read.
Status findCheckpoints(const std::string &directory,
                       std::vector<std::string> &folders);

/// Returns the names of the folders of unfinished saves in `directory`, such as
/// "step-00000008.tmp-JOB". The save is in progress or was interrupted.
std::vector<std::string> listUnfinished(const std::string &directory);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
