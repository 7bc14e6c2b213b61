//===- CheckpointReader.h - reading a checkpoint under any sharding -------===//

#ifndef PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H
#define PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H

#include "runtime/checkpoint/Manifest.h"
#include "runtime/tensor/Safetensors.h"

#include <map>
#include <string>

namespace pcc::runtime {

/// Reads tensors from one checkpoint. Every tensor is stored as pieces:
/// sub-tensors with their global index ranges. A rank can thus read its shard
/// from a checkpoint that has another sharding. One thread at a time may use an
/// object.
class CheckpointReader {
public:
  /// Reads and checks the manifest of the checkpoint at `folder`. Also checks
  /// that all files exist with their recorded sizes, but not their content.
  /// Returns exit code 11 if the checkpoint is incomplete or damaged, 7 if the
  /// manifest cannot be read.
  static Status open(const std::string &folder, CheckpointReader &checkpoint);

  /// Returns the manifest; valid after open() has succeeded.
  const Manifest &manifest() const { return contents; }

  /// Reads the sub-tensor `target` of a saved tensor into `memory`, dense and
  /// row-major. The padding of `target` becomes 0. Verifies the checksum of
  /// every saved sub-tensor that overlaps `target`; returns exit code 11 if a
  /// checksum is wrong.
  Status read(const SavedTensor &tensor, const LocalPart &target, void *memory);

private:
  /// Checks that `file` exists in the checkpoint with the recorded size, and
  /// that its name has no directory part. Returns exit code 11 otherwise.
  Status checkFile(const SavedFile &file) const;
  /// Checks each file of the manifest with checkFile(), and that all saved
  /// pieces (sub-tensors) lie within their files. Returns exit code 11
  /// otherwise.
  Status checkFiles() const;
  /// Finds a saved piece (sub-tensor): sets `file` to its safetensors file, and
  /// `entry` to its entry in the file's header. Returns exit code 11 if the
  /// entry disagrees with the manifest.
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
