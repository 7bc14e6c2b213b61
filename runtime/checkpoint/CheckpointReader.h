//===- CheckpointReader.h - reading a checkpoint under any sharding -------===//

#ifndef PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H
#define PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H

#include "runtime/checkpoint/Manifest.h"
#include "runtime/tensor/Safetensors.h"

#include <map>
#include <string>

namespace pcc::runtime {

/// Reads tensors from one checkpoint. A tensor is stored as pieces with
/// explicit index ranges, so a rank can read its shard whatever sharding the
/// pieces were saved with. An object must not be used by two threads at once.
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

  /// Fills `memory` with the part `target` of a tensor: dense row-major memory
  /// of `target.shape`. Elements that no piece has, which are padding, become
  /// 0. Every piece that overlaps `target` is read completely and verified by
  /// its checksum. Returns exit code 11 if a piece has changed.
  Status read(const SavedTensor &tensor, const LocalPart &target, void *memory);

private:
  /// Checks the name and the size of one file.
  Status checkFile(const SavedFile &file) const;
  /// Checks all files, and that all pieces lie within them.
  Status checkFiles() const;
  /// Finds the safetensors entry of a piece and checks that it agrees with the
  /// manifest.
  Status findPiece(const SavedTensor &tensor, const SavedPiece &piece,
                   const SafetensorsFile *&file,
                   const SafetensorsEntry *&entry);
  /// Returns a file of the checkpoint in `file`; opens it at the first call.
  Status openFile(const std::string &name, const SafetensorsFile *&file);
  /// Returns the error (exit code 11) of a file that is damaged as `why` says.
  Status damaged(const std::string &file, const std::string &why) const;

  std::string folder;
  Manifest contents;
  /// Open files by name.
  std::map<std::string, SafetensorsFile> files;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H
