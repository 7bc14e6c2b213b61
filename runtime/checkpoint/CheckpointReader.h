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
  /// Reads and checks the manifest of the checkpoint in the folder `folder`,
  /// and assigns the result to `checkpoint`. The manifest is a JSON file that
  /// lists the tensors and the other files of the checkpoint. Also checks that
  /// every listed file exists and has the size that the manifest gives. The
  /// content of these files is not checked.
  ///
  /// Returns exit code 11 if the checkpoint is incomplete or damaged, 7 if the
  /// manifest cannot be read.
  static Status open(const std::string &folder, CheckpointReader &checkpoint);

  /// Returns the manifest; valid after open() has succeeded.
  const Manifest &manifest() const { return contents; }

  /// Reads a sub-tensor of the saved tensor `tensor` into `memory`, dense and
  /// row-major. `target` gives the index ranges and the shape of the
  /// sub-tensor. The shape may include padding, which becomes 0. For example, 4
  /// ranks share a dim of 10 elements. Every rank has a shape of 3 elements, so
  /// rank 3 has element 9 and 2 elements of padding.
  ///
  /// Verifies the checksum of every saved sub-tensor that has elements in
  /// common with `target`. Returns exit code 11 if a checksum is wrong.
  Status read(const SavedTensor &tensor, const LocalPart &target, void *memory);

private:
  /// Checks one file that the manifest lists: it must exist in the folder of
  /// the checkpoint and have the size that the manifest gives. The file's name
  /// must not contain a slash, because the file must be directly in this
  /// folder. Returns exit code 11 if a check fails.
  Status checkFile(const SavedFile &file) const;
  /// Checks that every file that the manifest lists exists and has the size
  /// that the manifest gives. Also checks that the byte range of every saved
  /// sub-tensor lies within its file. Returns exit code 11 if a check fails.
  Status checkFiles() const;
  /// Finds the saved sub-tensor `piece` of `tensor`. Sets `file` to the
  /// safetensors file that holds the sub-tensor. Sets `entry` to the entry of
  /// `tensor` in the header of this file. An entry gives the element type and
  /// the byte range of a tensor. Returns exit code 11 if the header has no such
  /// entry, or if the element type or byte range is not that of the manifest.
  Status findPiece(const SavedTensor &tensor, const SavedPiece &piece,
                   const SafetensorsFile *&file,
                   const SafetensorsEntry *&entry);
  /// Sets `file` to the open file `name` of the checkpoint. The first call for
  /// a name opens the file; later calls reuse it.
  Status openFile(const std::string &name, const SafetensorsFile *&file);
  /// Returns an error with exit code 11, which stands for a damaged checkpoint.
  /// The message names `file`, a file of this checkpoint, and ends with `why`,
  /// such as "is missing".
  Status damaged(const std::string &file, const std::string &why) const;

  std::string folder;
  Manifest contents;
  /// Safetensors files that openFile() has opened, by file name.
  std::map<std::string, SafetensorsFile> files;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H
