//===- Manifest.h - what a checkpoint holds -------------------------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_MANIFEST_H
#define PCC_RUNTIME_CHECKPOINT_MANIFEST_H

#include "runtime/base/Status.h"
#include "runtime/checkpoint/TrainingState.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Changes whenever manifest.json or the meaning of a field does.
inline constexpr int64_t kCheckpointFormat = 2;

/// What one rank has written of one tensor: the elements at all combinations of
/// `runs`, row-major, without padding.
struct SavedPiece {
  std::string file; ///< beside the manifest
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t checksum = 0; ///< xxh3 of the bytes
  std::vector<std::vector<Run>> runs = {};
};

struct SavedTensor {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  bool trained = false;
  bool isState = false;
  std::string stateOf = {};
  WeightOrigin origin = {};
  std::vector<SavedPiece> pieces = {};
};

struct SavedFile {
  std::string name;
  uint64_t size = 0;
  uint64_t checksum = 0; ///< xxh3 of the file
};

/// The whole of a checkpoint, or what one rank adds to it.
struct Manifest {
  TrainingPosition position = {};
  int64_t world = 1;
  std::string model = {};
  std::string weightsRoot = {};
  uint64_t planHash = 0;
  std::vector<SavedFile> files = {};
  std::vector<SavedTensor> tensors = {};

  /// Or null.
  const SavedTensor *find(const std::string &name) const;
};

/// JSON with a checksum of its content.
std::string toJson(const Manifest &manifest);

/// The inverse. Exit code 11 says what is wrong with the file at `path`: no
/// such JSON, another format, a wrong checksum, a piece outside its tensor or
/// of another size than its runs.
Status readManifest(const std::string &path, Manifest &manifest);

/// Adds what another rank has written. Exit code 11 if the two disagree about a
/// tensor.
Status merge(Manifest &manifest, Manifest other);

/// What is wrong with a tensor as such, or nothing: sizes, and pieces as far as
/// each can be judged alone.
std::string findFault(const SavedTensor &tensor);

/// What is wrong with a whole checkpoint's manifest, or nothing: the pieces of
/// every tensor must be a grid, that is hold each element exactly once.
std::string findPiecesFault(const Manifest &manifest);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_MANIFEST_H
