//===- CheckpointReader.h - reading a checkpoint under any sharding -------===//

#ifndef PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H
#define PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H

#include "runtime/checkpoint/Manifest.h"
#include "runtime/tensor/Safetensors.h"

#include <map>
#include <string>

namespace pcc::runtime {

/// Reads tensors from one checkpoint. A checkpoint stores each tensor as one or
/// more sub-tensors. The checkpoint also stores which indices of the whole
/// tensor each sub-tensor has. A run can therefore load a checkpoint that
/// another number of ranks has saved. For example, 2 ranks have saved a tensor
/// of 8 rows: rank 0 has saved rows 0 to 3, and rank 1 has saved rows 4 to 7. A
/// run with 4 ranks loads this checkpoint. Rank 1 of the new run needs rows 2
/// and 3, and reads them from the sub-tensor with rows 0 to 3.
///
/// Two threads must not call functions of one object at the same time.
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

  /// Reads a part of the saved tensor `tensor` into `memory`. `target.dims`
  /// lists the index ranges of the part along each dim. `memory` is dense and
  /// row-major, and has the shape `target.shape`. If the part is smaller than
  /// `memory`, the other elements of `memory` become 0. For example, the part
  /// [9, 10) in memory of the shape {3} gives element 9 and two zeros.
  ///
  /// Returns an error with exit code 11 if data that is read from the
  /// checkpoint has a wrong checksum.
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
  /// Finds a saved sub-tensor in the safetensors files of the checkpoint.
  /// `tensor` describes a saved tensor in the manifest. `piece` describes one
  /// sub-tensor of this tensor in the manifest. The function has two results:
  ///
  /// - `file` becomes the open safetensors file that contains the sub-tensor.
  /// - `entry` becomes the description of the sub-tensor in the header of
  ///   `file`. The header has one description per tensor name.
  ///
  /// Both the manifest and the header give an element type and a byte range for
  /// the sub-tensor. If the manifest and the header differ, the function
  /// returns an error with exit code 11. The function also returns this error
  /// if the header does not contain the name of the tensor.
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
