//===- RankFile.cpp - the data file and the report of one rank ------------===//

#include "runtime/checkpoint/RankFile.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/Manifest.h"
#include "runtime/tensor/Safetensors.h"

#define XXH_INLINE_ALL
#include <chrono>
#include <thread>
#include <unistd.h>
#include <xxhash.h>

#include <cstdio>
#include <fstream>

namespace pcc::runtime {

namespace {
/// Writes two files of one rank for a checkpoint. The safetensors file has the
/// elements of the sub-tensors that the rank saves. The JSON file is a report
/// that lists these sub-tensors. For example, the rank saves rows 0 and 1 of a
/// tensor. The report then has the name of the tensor, and the numbers of the
/// rows.
class RankFileWriter {
public:
  RankFileWriter(const FileChanges &changes, const std::string &folder,
                 int rank, const std::vector<OwnedPiece> &pieces,
                 const Snapshot &snapshot)
      : changes(changes), folder(folder), rank(rank), pieces(pieces),
        snapshot(snapshot), file(changes) {
    XXH3_64bits_reset(hash.get());
  }

  /// Writes the two files of this rank in this order. NNN is the number of the
  /// rank:
  ///
  /// 1. rank-NNN.safetensors contains the elements of the sub-tensors in
  ///    `pieces`. If all these sub-tensors are empty, the function does not
  ///    write this file.
  /// 2. rank-NNN.json is the report. The report lists the sub-tensors that the
  ///    rank has saved.
  Status run() {
    const std::string header = describe();
    if (end > 0)
      PCC_RETURN_IF_ERROR(writeFile(header));
    // Sync the folder, so that the name of the safetensors file survives a
    // crash of the machine. writeFile() has already synced the content of the
    // file. Both syncs must come before the report. Rank 0 gives the folder its
    // final name as soon as each rank has written a report. A loader may then
    // load the checkpoint.
    PCC_RETURN_IF_ERROR(changes.syncFolder(folder));
    return changes.replaceFile(folder + "/" + rankFileName(rank, "json"),
                               toJson(report));
  }

private:
  /// Describes the tensors and the sub-tensors that this rank saves:
  ///
  /// - Adds one entry per tensor to `report`. The entry has the name, the type
  ///   and the shape of the whole tensor.
  /// - Returns the header of the safetensors file. The header has one entry for
  ///   each sub-tensor that is not empty. The entry has the name of the tensor,
  ///   and the shape and the byte range of the sub-tensor. For example,
  ///   sub-tensors of 16 and 8 bytes get the byte ranges [0, 16) and [16, 24).
  ///
  /// A sub-tensor is empty if this rank's shard consists only of padding. The
  /// tensor of an empty sub-tensor has an entry in `report`, but no entry in
  /// the header.
  std::string describe() {
    std::vector<SafetensorsEntry> entries;
    for (const OwnedPiece &piece : pieces) {
      const StateTensor &tensor = *piece.tensor;
      report.tensors.push_back({tensor.name, tensor.type, tensor.shape,
                                tensor.trained, tensor.isState, tensor.stateOf,
                                tensor.origin});
      if (piece.bytes == 0)
        continue;
      entries.push_back(
          {tensor.name, tensor.type, piece.shape, end, end + piece.bytes});
      end += piece.bytes;
    }
    return safetensorsHeader(entries);
  }

  /// Writes and syncs this rank's safetensors file: first `header`, then the
  /// bytes of the tensors. Adds the name, size and hash of the file to
  /// `report`.
  Status writeFile(const std::string &header) {
    const std::string name = rankFileName(rank, "safetensors");
    Status status = file.create(folder + "/" + name);
    if (status.ok())
      status = write(std::as_bytes(std::span(header)));
    for (size_t i = 0; i < pieces.size() && status.ok(); ++i)
      if (pieces[i].bytes > 0)
        status = writePiece(i, name);
    if (status.ok())
      status = file.finish();
    report.files.push_back({name, written, XXH3_64bits_digest(hash.get())});
    return status;
  }

  /// Appends the elements of the sub-tensor `pieces[index]` to this rank's
  /// safetensors file. `name` is the name of this file, such as
  /// "rank-003.safetensors". Adds the offset of the sub-tensor in the file, its
  /// size and its hash to `report`.
  ///
  /// If training continues during the save, it changes the tensor. `snapshot`
  /// then has a copy of the sub-tensor from before the change, and the function
  /// writes this copy. If training waits for the save, `snapshot` is empty, and
  /// the function reads the elements from the memory of the tensor.
  Status writePiece(size_t index, const std::string &name) {
    const OwnedPiece &piece = pieces[index];
    const std::byte *data = buffer.data();
    if (!snapshot.empty()) {
      data = snapshot[index].get();
    } else {
      buffer.resize(std::max<size_t>(buffer.size(), piece.bytes));
      pack(piece, buffer.data());
      data = buffer.data();
    }
    report.tensors[index].pieces.push_back({name, written, piece.bytes,
                                            XXH3_64bits(data, piece.bytes),
                                            piece.runs});
    return write({data, piece.bytes});
  }

  /// Appends `bytes` to this rank's safetensors file, and adds them to the hash
  /// of the file.
  Status write(std::span<const std::byte> bytes) {
    XXH3_64bits_update(hash.get(), bytes.data(), bytes.size());
    written += bytes.size();
    return file.write(bytes);
  }

  const FileChanges &changes;
  const std::string &folder;
  const int rank;
  const std::vector<OwnedPiece> &pieces;
  const Snapshot &snapshot;
  NewFile file;
  Manifest report;
  /// Buffer for the elements of one sub-tensor. In the memory of the tensor,
  /// the elements of the sub-tensor may have gaps between them. writePiece()
  /// copies the elements to this buffer without gaps, and then writes the
  /// buffer to the file. All sub-tensors use the same buffer, one after
  /// another.
  ///
  /// The buffer stays empty if training continues during the save. `snapshot`
  /// then has a copy of each sub-tensor, and writePiece() writes these copies
  /// to the file.
  std::vector<std::byte> buffer;
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t *)> hash{
      XXH3_createState(), &XXH3_freeState};
  uint64_t end = 0;     ///< bytes of all tensors
  uint64_t written = 0; ///< bytes of the file so far
};
} // namespace

Status writeRankFile(const FileChanges &changes, const std::string &folder,
                     int rank, const std::vector<OwnedPiece> &pieces,
                     const Snapshot &snapshot) {
  return RankFileWriter(changes, folder, rank, pieces, snapshot).run();
}

void noteFailure(const std::string &folder, int rank, const Status &status) {
  // The existence of the file rank-NNN.failed tells rank 0 that this rank has
  // failed. The file may be empty, for example if the disk is full.
  const std::string path = folder + "/" + rankFileName(rank, "failed");
  std::ofstream(path + ".part") << status.message();
  if (std::rename((path + ".part").c_str(), path.c_str()) == 0)
    return;
  const std::string failed = failedName(folder);
  (void)std::rename(folder.c_str(), failed.c_str());
  constexpr int pauses = 500;
  for (int i = 0; i < pauses && access(failed.c_str(), F_OK) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

} // namespace pcc::runtime
