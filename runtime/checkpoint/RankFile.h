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

/// Writes the error message of `status` to a text file in the folder `folder`
/// of a checkpoint. `rank` is the number of this rank. The name of the file
/// contains this number. For example, rank 3 writes the file rank-003.failed.
/// Rank 0 waits for a file of each rank. If rank 0 finds rank-003.failed, rank
/// 0 knows that rank 3 could not save its data. The function ignores errors
/// when it writes the file.
void noteFailure(const std::string &folder, int rank, const Status &status);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_RANKFILE_H
