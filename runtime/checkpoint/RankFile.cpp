//===- RankFile.cpp - the data file and the report of one rank ------------===//

#include "runtime/checkpoint/RankFile.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/Manifest.h"
#include "runtime/tensor/Safetensors.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <fstream>

namespace pcc::runtime {

namespace {
/// Writes the tensor pieces (sub-tensors) that one rank saves to a data file.
/// Also writes a report that describes the pieces, in the format of a manifest.
class RankFileWriter {
public:
  RankFileWriter(const FileChanges &changes, const std::string &folder,
                 int rank, const std::vector<OwnedPiece> &pieces,
                 const Snapshot &snapshot)
      : changes(changes), folder(folder), rank(rank), pieces(pieces),
        snapshot(snapshot), file(changes) {
    XXH3_64bits_reset(hash.get());
  }

  /// Writes the data file (unless all pieces are empty), then the report.
  Status run() {
    const std::string header = describe();
    if (end > 0)
      PCC_RETURN_IF_ERROR(writeFile(header));
    // The data file must be durable before the report is written: rank 0
    // publishes the checkpoint when it finds the reports of all ranks.
    PCC_RETURN_IF_ERROR(changes.syncFolder(folder));
    return changes.replaceFile(folder + "/" + rankFileName(rank, "json"),
                               toJson(report));
  }

private:
  /// Fills the report with all tensors, without pieces and checksums. Returns
  /// the header of the data file, which has only the tensors of which this rank
  /// writes elements.
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

  /// Writes and syncs the data file: the header, then the pieces. Computes the
  /// hash of the file while writing.
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

  /// Writes piece number `index` to the data file and adds it to the report. A
  /// background save has copies of the pieces (`snapshot`) and writes the copy.
  /// A foreground save reads the tensor itself.
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

  /// Appends `bytes` to the data file and to the file's hash.
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
  /// Memory in which a piece is made contiguous before it is written; reused
  /// for all pieces.
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
  // The existence of the file means to rank 0 that this rank has failed. If the
  // disk is full, the file stays empty, which is sufficient.
  const std::string path = folder + "/" + rankFileName(rank, "failed");
  std::ofstream(path + ".part") << status.message();
  std::rename((path + ".part").c_str(), path.c_str());
}

} // namespace pcc::runtime
