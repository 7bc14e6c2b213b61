//===- Manifest.h - the manifest of a sharded checkpoint ------------------===//
//
// The manifest lists every tensor of a checkpoint with its global shape, and
// the pieces that the tensor is stored in. Pieces are described by global
// indices, independently of the mesh, so that another plan can load them.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_MANIFEST_H
#define PCC_RUNTIME_CHECKPOINT_MANIFEST_H

#include "runtime/checkpoint/TrainingState.h"
#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Version of the format of manifest.json. Increment it when the format
/// changes; readManifest() refuses other versions.
inline constexpr int64_t kCheckpointFormat = 2;

/// Sub-tensor that one rank has written to a file. `runs` are the ranges of
/// global indices that the sub-tensor has along each dim of the tensor. For
/// example, `runs` = {{[0, 2)}, {[4, 6), [8, 9)}} means rows 0 and 1, and
/// columns 4, 5 and 8. Elements are stored row-major and without padding.
struct SavedPiece {
  /// Name of the safetensors file that holds the sub-tensor, such as
  /// "rank-003.safetensors".
  std::string file;
  /// Byte offset of the sub-tensor's first element within `file`.
  uint64_t offset = 0;
  /// Size of the saved sub-tensor in bytes.
  uint64_t bytes = 0;
  /// 64-bit xxh3 hash of the bytes of the saved sub-tensor.
  uint64_t checksum = 0;
  /// Indices of the sub-tensor within the whole tensor. Entry i is the list of
  /// the index ranges along dim i, in ascending order. For example, a
  /// sub-tensor of a matrix has rows 0 and 1, and columns 4, 5 and 8. Entry 0
  /// is then {[0, 2)}, and entry 1 is {[4, 6), [8, 9)}.
  std::vector<Runs> runs = {};
};

/// Describes one tensor in a checkpoint: a parameter of the model or a state of
/// the optimizer. `pieces` lists the sub-tensors of this tensor that the ranks
/// have saved. Every other member has the meaning of the member with the same
/// name in the struct StateTensor.
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

/// A safetensors file of the checkpoint: its name within the folder, its size
/// in bytes and its hash.
struct SavedFile {
  std::string name;
  uint64_t size = 0;
  uint64_t checksum = 0; ///< 64-bit xxh3 hash of the file
};

/// Content of the manifest of a checkpoint. The report of a rank has the same
/// type. During a save, each rank writes a report that lists the file of this
/// rank and the sub-tensors in the file. A report uses only the members `files`
/// and `tensors`. Rank 0 merges the reports of all ranks into the manifest.
struct Manifest {
  TrainingPosition position = {};
  /// Number of ranks that saved the checkpoint.
  int64_t world = 1;
  /// Absolute path, without symbolic links, of the file of the model that was
  /// trained. The path is empty if the file is unknown.
  std::string model = {};
  /// Canonical path of the folder of the model's weights.
  std::string weightsRoot = {};
  /// Hash of the bundle of the run that saved the checkpoint. The compiler has
  /// computed the hash from the programs of all ranks, the compiled kernels and
  /// the runtime. A run that loads the checkpoint ignores the hash.
  uint64_t planHash = 0;
  std::vector<SavedFile> files = {};
  std::vector<SavedTensor> tensors = {};

  /// Returns the tensor named `name`, or null if the manifest has none.
  const SavedTensor *find(const std::string &name) const;
};

/// Returns the manifest as JSON that ends with a checksum of its content.
std::string toJson(const Manifest &manifest);

/// Reads the manifest file at `path`, parses its JSON text, and stores the
/// result in `manifest`. Returns exit code 7 if the file cannot be read.
/// Returns exit code 11 if the file is not a valid manifest, or if it changes
/// during the read. A file is not a valid manifest in any of these cases:
///
/// - The file is not JSON, or its arrays and objects are nested too deeply.
/// - A member is missing or has another type.
/// - The format version or the checksum is wrong.
/// - The function findFault() reports a fault for a tensor. For example, a size
///   in the shape of the tensor is negative.
Status readManifest(const std::string &path, Manifest &manifest);

/// Adds the report `other` of one rank to `manifest`. The report lists the file
/// that the rank has written, and the sub-tensors in this file. For example,
/// `manifest` lists rows 0 and 1 of the tensor "w", and the report lists rows 2
/// and 3 of "w". The function adds rows 2 and 3 to the list of `manifest`.
///
/// Returns exit code 11 if `manifest` and the report contradict each other
/// about a tensor. A contradiction is another element type, another shape, or
/// another role (trained parameter, other parameter or optimizer state).
Status merge(Manifest &manifest, Manifest other);

/// Checks the description of one saved tensor. Returns the first fault as text,
/// or an empty string if there is no fault. The function checks three things:
///
/// - The shape: no size may be negative. The size of the tensor in bytes must
///   fit into a signed 64-bit number.
/// - The saved sub-tensors: their index ranges must lie within the tensor. The
///   size of each sub-tensor in bytes must match its index ranges.
/// - The origin: a parameter may be derived from a weight (ONNX initializer) by
///   transforms. The shape of the weight and each transform must be valid. The
///   result of the transforms must have the type and the shape of the
///   parameter. For example, the weight has shape 4x8, and the only transform
///   is a transpose. The parameter must then have shape 8x4.
std::string findFault(const SavedTensor &tensor);

/// Checks that the saved sub-tensors of each tensor contain every element of
/// the tensor exactly once, and that no two tensors have the same name. The
/// sub-tensors of a tensor must also form a grid. In a grid, each dim is
/// divided into parts, and there is one sub-tensor for each combination of
/// parts. For example, 2 parts of the rows and 3 parts of the columns give 6
/// sub-tensors. A tensor without elements must have no saved sub-tensor.
///
/// Returns a description of the first fault as text, or an empty string if
/// there is no fault. The caller must first call findFault() for each tensor,
/// and must not call this function if findFault() reports a fault.
std::string findPiecesFault(const Manifest &manifest);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_MANIFEST_H
