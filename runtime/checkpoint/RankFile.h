//===- RankFile.h - the data file and the report of one rank --------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_RANKFILE_H
#define PCC_RUNTIME_CHECKPOINT_RANKFILE_H

#include "runtime/checkpoint/FileChanges.h"
#include "runtime/checkpoint/OwnedPieces.h"

#include <memory>

namespace pcc::runtime {

/// Copies of the sub-tensors that this rank saves. A save in the background
/// needs them, because training changes the tensors meanwhile. Empty for a save
/// in the foreground.
using Snapshot = std::vector<std::unique_ptr<std::byte[]>>;

/// Writes the tensor elements that rank `rank` saves to the folder `folder` of
/// a checkpoint. `pieces` describes the elements. The rank writes two files:
///
/// - rank-NNN.safetensors: the elements; not created if there are none
/// - rank-NNN.json: a report that lists `pieces`; written after the elements
///   are synced, so a process that finds the report can rely on the data
///
/// The elements come from `snapshot`, or from the tensors if `snapshot` is
/// empty. Returns an error with exit code 7 if a file cannot be written.
Status writeRankFile(const FileChanges &changes, const std::string &folder,
                     int rank, const std::vector<OwnedPiece> &pieces,
                     const Snapshot &snapshot);

/// Tells rank 0 that this rank, `rank`, cannot save its data because of
/// `status`: writes the error message to the file rank-NNN.failed in `folder`.
/// If this file cannot be created, for example because the file system is full,
/// renames `folder` to failedName(folder) instead, which needs no space. Then
/// waits until rank 0 has deleted the renamed folder, at most five seconds.
void noteFailure(const std::string &folder, int rank, const Status &status);

/// Returns the name to which a rank renames the folder `folder` of a checkpoint
/// if the rank can neither save its data nor write an error message to the
/// folder. For example, "x" gives "x.failed".
inline std::string failedName(const std::string &folder) {
  return folder + ".failed";
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_RANKFILE_H
