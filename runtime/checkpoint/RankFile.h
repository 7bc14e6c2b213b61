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

/// Writes two files of this rank to the folder `folder` of a checkpoint. NNN is
/// the number `rank`:
///
/// - rank-NNN.safetensors: the elements of the sub-tensors in `pieces`. The
///   function does not create this file if all sub-tensors are empty.
/// - rank-NNN.json: a report that lists the sub-tensors. The function writes
///   the report last, after it has synced the safetensors file to the disk. A
///   process that finds the report can therefore rely on the data.
///
/// If training continues during the save, `snapshot` has a copy of each
/// sub-tensor. Otherwise `snapshot` is empty. `changes` performs the file
/// operations. Returns an error with exit code 7 if a file cannot be written.
Status writeRankFile(const FileChanges &changes, const std::string &folder,
                     int rank, const std::vector<OwnedPiece> &pieces,
                     const Snapshot &snapshot);

/// Writes the message of `status` to `folder`/rank-NNN.failed. The file tells
/// rank 0 that this rank has failed. Errors of the write are ignored.
void noteFailure(const std::string &folder, int rank, const Status &status);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_RANKFILE_H
