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
/// Returns `step` with the ending ".replaced". `step` is the folder name or the
/// path of a checkpoint. For example, "step-00000008" gives
/// "step-00000008.replaced".
///
/// A training run can save a second checkpoint of step 8. The run then renames
/// the folder of the first checkpoint to "step-00000008.replaced", and gives
/// the name "step-00000008" to the second checkpoint. The rename does not
/// change the content of the folder. A run can therefore still load the first
/// checkpoint.
std::string replacedName(const std::string &step);
/// Returns the folder name of a checkpoint that is being written, such as
/// "step-00000008.tmp-JOB". `step` is the name of the complete checkpoint,
/// "step-00000008". `job` identifies the training run.
std::string unfinishedName(const std::string &step, const std::string &job);

/// Returns the name of a file that a rank writes into the folder of a
/// checkpoint. `rank` is the number of the rank, and `ending` is the ending of
/// the file name. For example, `rank` = 3 and `ending` = "json" give
/// "rank-003.json". The files of rank 3 are:
///
///   rank-003.safetensors   elements of the tensors
///   rank-003.json          list of the saved tensors; written when
///                          rank-003.safetensors is complete
///   rank-003.failed        error message; written if rank 3 cannot save its
///                          elements
std::string rankFileName(int rank, const char *ending);

/// Appends the folder names of all checkpoints in `directory` to `names`. The
/// function does not check whether a checkpoint is damaged. If the file
/// `latest` in `directory` contains the name of a checkpoint, this name comes
/// first. All other names follow in descending order of the training step. For
/// equal steps, the name that ends with ".replaced" comes last. For example,
/// `latest` contains "step-00000008":
///
///   step-00000008
///   step-00000012
///   step-00000004
///   step-00000004.replaced
///
/// Returns exit code 10 if `directory` does not exist, and exit code 7 if
/// `directory` cannot be read.
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
