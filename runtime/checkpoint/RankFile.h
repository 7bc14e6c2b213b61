//===- RankFile.h - the data file and the report of one rank --------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_RANKFILE_H
#define PCC_RUNTIME_CHECKPOINT_RANKFILE_H

#include "runtime/checkpoint/FileChanges.h"
#include "runtime/checkpoint/OwnedPieces.h"

#include <memory>

namespace pcc::runtime {

/// Copies of the tensor pieces (sub-tensors) that a background save writes: one
/// buffer per piece, in the order of the pieces. For a foreground save the list
/// is empty; each piece is then packed from its tensor when it is written.
using Snapshot = std::vector<std::unique_ptr<std::byte[]>>;

/// Writes this rank's two files of a checkpoint to `folder`. Returns exit code
/// 7 if writing fails.
///
/// - rank-NNN.safetensors: the rank's tensor pieces (sub-tensors). The file is
///   omitted if all pieces are empty.
/// - rank-NNN.json: the report. It is written only after the data survives a
///   crash of the machine.
Status writeRankFile(const FileChanges &changes, const std::string &folder,
                     int rank, const std::vector<OwnedPiece> &pieces,
                     const Snapshot &snapshot);

/// Writes the message of `status` to `folder`/rank-NNN.failed, so that rank 0
/// does not wait for the report of this rank. Errors of the write are ignored.
void noteFailure(const std::string &folder, int rank, const Status &status);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_RANKFILE_H
