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

/// Writes the tensor elements that this rank saves to the folder `folder` of a
/// checkpoint. This rank has the number `rank`. Each entry of `pieces`
/// describes the elements of one tensor that this rank saves. For example, an
/// entry describes rows 0 and 1 of a matrix.
///
/// The function writes two files. NNN is the number of this rank with three
/// digits, such as 007:
///
/// - rank-NNN.safetensors: the elements. The function does not create this file
///   if this rank saves no elements.
/// - rank-NNN.json: a report that lists the entries of `pieces`. The function
///   writes the report last, after it has synced the safetensors file to the
///   disk. A process that finds the report can therefore rely on the data.
///
/// If training continues during the save, `snapshot` has a copy of the elements
/// of each entry of `pieces`, and the function writes the copies. Otherwise
/// `snapshot` is empty, and the function writes the elements of the tensors.
/// The function calls the member functions of `changes` to create, write and
/// sync the files. Returns an error with exit code 7 if a file cannot be
/// written.
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
