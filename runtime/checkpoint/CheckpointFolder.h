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
/// Returns the temporary name of a checkpoint's folder: the text `step`, then
/// ".tmp-", then the text `job`. The folder has this name while a run writes
/// the checkpoint. `step` is the name of the folder after the checkpoint is
/// complete. `job` differs between training runs, so that two runs do not write
/// to the same folder. For example, `step` = "step-00000008" and `job` =
/// "5172-0" give "step-00000008.tmp-5172-0".
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

/// Appends the folder names of all checkpoints in `directory` to `names`, even
/// of damaged checkpoints. The checkpoint that the file `latest` names comes
/// first. The other names follow in descending order of the training step. For
/// equal steps, the name that ends with ".replaced" comes last.
///
/// Returns an error with exit code 10 if `directory` does not exist, and an
/// error with exit code 7 if `directory` cannot be read.
Status listCheckpoints(const std::string &directory,
                       std::vector<std::string> &names);

/// Appends the paths of checkpoints to `folders`, in the order in which a
/// loader should try them. If `directory` contains the file "manifest.json", it
/// is itself a checkpoint, and the function appends only `directory`. Otherwise
/// the function appends the checkpoints in `directory`, in the order of
/// listCheckpoints().
///
/// Returns an error with exit code 10 if there is no checkpoint, and an error
/// with exit code 7 if `directory` cannot be read.
Status findCheckpoints(const std::string &directory,
                       std::vector<std::string> &folders);

/// Returns the names of all folders in `directory` that have a temporary name,
/// such as "step-00000008.tmp-5172-0". A training run writes a checkpoint to a
/// folder with a temporary name, and renames the folder when the checkpoint is
/// complete. A folder with a temporary name can contain:
///
/// - a checkpoint that a run is still writing
/// - a checkpoint that a run could not complete, for example because the run
///   was killed
/// - an old checkpoint that a run is deleting
std::vector<std::string> listUnfinished(const std::string &directory);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
