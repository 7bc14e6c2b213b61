//===- RankFile.h - the data file and the report of one rank --------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_RANKFILE_H
#define PCC_RUNTIME_CHECKPOINT_RANKFILE_H

#include "runtime/checkpoint/FileChanges.h"
#include "runtime/checkpoint/OwnedPieces.h"

#include <memory>

namespace pcc::runtime {

/// Copies of the pieces, made before the save: one per piece. If the list is
/// empty, pieces are packed from the tensors while they are written.
using Snapshot = std::vector<std::unique_ptr<std::byte[]>>;

/// Writes the pieces to `folder`/rank-NNN.safetensors, unless all are empty,
/// and syncs them. Then writes the report `folder`/rank-NNN.json, which tells
/// rank 0 that the data is durable. Returns exit code 7 if writing fails.
Status writeRankFile(const FileChanges &changes, const std::string &folder,
                     int rank, const std::vector<OwnedPiece> &pieces,
                     const Snapshot &snapshot);

/// Leaves the error message in `folder`/rank-NNN.failed, so that rank 0 does
/// not wait for this rank's report. Errors are ignored.
void noteFailure(const std::string &folder, int rank, const Status &status);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_RANKFILE_H
