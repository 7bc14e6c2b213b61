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

/// Writes this rank's two files of a checkpoint to `folder`. Returns exit code
/// 7 if writing fails.
///
/// - rank-NNN.safetensors: the sub-tensors that this rank saves. There is no
///   file if all of them are empty.
/// - rank-NNN.json: a report that describes the sub-tensors. Its existence
///   means that their data is synced.
Status writeRankFile(const FileChanges &changes, const std::string &folder,
                     int rank, const std::vector<OwnedPiece> &pieces,
                     const Snapshot &snapshot);

/// Writes the message of `status` to `folder`/rank-NNN.failed. The file tells
/// rank 0 that this rank has failed. Errors of the write are ignored.
void noteFailure(const std::string &folder, int rank, const Status &status);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_RANKFILE_H
