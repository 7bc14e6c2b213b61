//===- Manifest.h - the manifest of a sharded checkpoint ------------------===//
//
// The manifest lists every tensor of a checkpoint with its global shape, and
// the pieces that the tensor is stored in. Pieces are described by global
// indices, independently of the mesh, so that another plan can load them.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_MANIFEST_H
#define PCC_RUNTIME_CHECKPOINT_MANIFEST_H

#include "runtime/base/Status.h"
#include "runtime/checkpoint/TrainingState.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Version of the format. Increment it when manifest.json or the meaning of a
/// field changes; readManifest() refuses other versions.
inline constexpr int64_t kCheckpointFormat = 2;

/// Part of a tensor that one rank has written: the elements at all combinations
/// of the index ranges `runs`, row-major and without padding.
struct SavedPiece {
  /// Name of the file beside the manifest.
  std::string file;
  /// Byte offset of the piece in the file.
  uint64_t offset = 0;
  /// Size of the piece in bytes.
  uint64_t bytes = 0;
  /// 64-bit xxh3 hash of the piece.
  uint64_t checksum = 0;
  /// Ascending global index ranges, one list per dim.
  std::vector<Runs> runs = {};
};

/// A tensor of the training state; the members correspond to StateTensor.
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

/// A data file of the checkpoint.
struct SavedFile {
  std::string name;
  uint64_t size = 0;
  uint64_t checksum = 0; ///< 64-bit xxh3 hash of the file
};

/// Manifest of a checkpoint, or the report of one rank about its part.
struct Manifest {
  TrainingPosition position = {};
  /// Number of ranks that saved the checkpoint.
  int64_t world = 1;
  /// Canonical path of the model's file; may be empty.
  std::string model = {};
  /// Canonical path of the folder of the model's weights.
  std::string weightsRoot = {};
  /// Hash of the plan of the run that saved the checkpoint.
  uint64_t planHash = 0;
  std::vector<SavedFile> files = {};
  std::vector<SavedTensor> tensors = {};

  /// Returns the tensor of that name, or null.
  const SavedTensor *find(const std::string &name) const;
};

/// Returns the manifest as JSON that ends with a checksum of its content.
std::string toJson(const Manifest &manifest);

/// Parses the manifest at `path`; the inverse of toJson(). Returns exit code 11
/// if the file is not such JSON, has another format or a wrong checksum, or
/// describes a piece that lies outside its tensor or does not have the size of
/// its ranges. Returns exit code 7 if the file cannot be read.
Status readManifest(const std::string &path, Manifest &manifest);

/// Adds the tensors, pieces and files of another rank's report. Returns exit
/// code 11 if the two describe a tensor differently.
Status merge(Manifest &manifest, Manifest other);

/// Checks a tensor, its origin, and each of its pieces alone. Returns what is
/// wrong, or an empty string.
std::string findFault(const SavedTensor &tensor);

/// Checks that the pieces of every tensor of a complete manifest form a grid,
/// which holds each element exactly once. Each tensor must already have passed
/// findFault(). Returns what is wrong, or an empty string.
std::string findPiecesFault(const Manifest &manifest);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_MANIFEST_H
