//===- RankFile.h - one rank's part of a checkpoint -----------------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_RANKFILE_H
#define PCC_RUNTIME_CHECKPOINT_RANKFILE_H

#include "runtime/checkpoint/FileChanges.h"
#include "runtime/checkpoint/OwnedPieces.h"

#include <memory>

namespace pcc::runtime {

/// Bytes of a piece that were packed before; one per piece, or none at all:
/// then pieces are packed as they are written.
using Snapshot = std::vector<std::unique_ptr<std::byte[]>>;

/// Writes the pieces to `folder`/rank-003.safetensors, unless there are none,
/// and then, synced, what it has written to `folder`/rank-003.json.
Status writeRankFile(const FileChanges &changes, const std::string &folder,
                     int rank, const std::vector<OwnedPiece> &pieces,
                     const Snapshot &snapshot);

/// Lets rank 0 know that it need not wait, as far as that can be written.
void noteFailure(const std::string &folder, int rank, const Status &status);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_RANKFILE_H
