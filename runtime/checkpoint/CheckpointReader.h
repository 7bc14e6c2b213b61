//===- CheckpointReader.h - reads one checkpoint --------------------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H
#define PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H

#include "runtime/checkpoint/Manifest.h"
#include "runtime/tensor/Safetensors.h"

#include <map>
#include <string>

namespace pcc::runtime {

class CheckpointReader {
public:
  /// Reads the manifest of `folder`, and looks whether all files are there with
  /// their sizes, and all pieces in them. Exit code 11 if anything is not as it
  /// was written, 7 if it cannot be read.
  static Status open(const std::string &folder, CheckpointReader &checkpoint);

  const Manifest &manifest() const { return contents; }

  /// Fills `memory`, which holds the part `target` of the tensor: what pieces
  /// have of it is copied, the rest, padding, becomes 0. Every piece that is
  /// needed is verified as a whole; exit code 11 if it has changed.
  Status read(const SavedTensor &tensor, const LocalPart &target, void *memory);

private:
  Status checkFile(const SavedFile &file) const;
  Status checkFiles() const;
  Status findPiece(const SavedTensor &tensor, const SavedPiece &piece,
                   const SafetensorsFile *&file,
                   const SafetensorsEntry *&entry);
  Status openFile(const std::string &name, const SafetensorsFile *&file);
  Status damaged(const std::string &file, const std::string &why) const;

  std::string folder;
  Manifest contents;
  std::map<std::string, SafetensorsFile> files; ///< opened when first read
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_CHECKPOINTREADER_H
