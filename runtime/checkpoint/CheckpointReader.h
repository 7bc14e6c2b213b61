//===- CheckpointReader.h - reading a checkpoint under any sharding -------===//

#ifndef PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H
#define PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H

#include "runtime/checkpoint/Manifest.h"
#include "runtime/tensor/Safetensors.h"

#include <map>
#include <string>

namespace pcc::runtime {

/// Reads tensors from one checkpoint. Each tensor is stored as pieces, which
/// are sub-tensors with explicit global index ranges. A rank can therefore read
/// its shard even if the checkpoint was saved under another sharding. An object
/// must not be used by two threads at once.
class CheckpointReader {
public:
  /// Reads and checks the manifest of the checkpoint at `folder`. Also checks
  /// that all files exist with their recorded sizes and that all pieces lie
  /// within their files; the content of the files is not read. Returns exit
  /// code 11 if the checkpoint is incomplete or damaged, 7 if the manifest
  /// cannot be read.
  static Status open(const std::string &folder, CheckpointReader &checkpoint);

  /// Returns the manifest; valid after open() has succeeded.
  const Manifest &manifest() const { return contents; }

  /// Reads the sub-tensor `target` of a saved tensor into `memory`, which is
  /// dense and row-major with shape `target.shape`. Elements outside all saved
  /// pieces are padding and become 0. Every saved piece that overlaps `target`
  /// is read completely and verified by its checksum. Returns exit code 11 if a
  /// checksum differs.
  Status read(const SavedTensor &tensor, const LocalPart &target, void *memory);

private:
  /// Checks that `file` exists in the checkpoint with the recorded size, and
  /// that its name has no directory part. Returns exit code 11 otherwise.
  Status checkFile(const SavedFile &file) const;
  /// Checks each file of the manifest with checkFile(), and checks that all
  /// pieces (saved sub-tensors) lie within their files. Returns exit code 11 if
  /// a check fails.
  Status checkFiles() const;
  /// Sets `file` to the safetensors file that holds a saved piece (sub-tensor),
  /// and `entry` to the piece's entry in the header of that file. Returns exit
  /// code 11 if the entry disagrees with the manifest.
  Status findPiece(const SavedTensor &tensor, const SavedPiece &piece,
                   const SafetensorsFile *&file,
                   const SafetensorsEntry *&entry);
  /// Sets `file` to the open file `name` of the checkpoint. The first call for
  /// a name opens the file; later calls reuse it.
  Status openFile(const std::string &name, const SafetensorsFile *&file);
  /// Returns the error (exit code 11) that `file` of this checkpoint is
  /// damaged; `why` is the reason in words.
  Status damaged(const std::string &file, const std::string &why) const;

  std::string folder;
  Manifest contents;
  /// Safetensors files that openFile() has opened, by file name.
  std::map<std::string, SafetensorsFile> files;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H
