//===- ExternalData.h - locator of external tensor data -------------------===//
//
// ONNX lets a tensor refer to bytes of a further file ("external data"). The
// location is text from an untrusted model. The locator therefore confines the
// files that a model can name to directories that the user has chosen.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_EXTERNALDATA_H
#define PCC_PASSES_1_IMPORT_ONNX_EXTERNALDATA_H

#include "passes/1-import/onnx/model/Error.h"
#include "passes/1-import/onnx/model/Model.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pcc::onnx {

/// A contiguous range of bytes of a file, which holds the elements of one
/// tensor.
struct DataReference {
  /// Path of the file relative to ExternalData::root(), in normal form but with
  /// symlinks kept, so that a copy of the directory elsewhere works, too. The
  /// path begins with ".." only if the file lies in another permitted
  /// directory.
  std::string path;
  /// First byte of the range.
  uint64_t offset = 0;
  /// Size of the range in bytes.
  uint64_t length = 0;
  /// Size of the whole file in bytes at lookup; 0 if the file is absent.
  uint64_t fileSize = 0;
  /// Modification time in nanoseconds since the epoch; 0 if the file is absent.
  int64_t modified = 0;
  /// Whether the file exists. Always true unless
  /// ExternalDataOptions::allowAbsent is set.
  bool present = true;
};

/// The user's choices about external data.
struct ExternalDataOptions {
  /// Additional permitted directory (--external-data-root); empty for none.
  std::string extraRoot;
  /// Whether a missing file is accepted, because --random-weights replaces its
  /// contents. An invalid location, or a file that is too short, is an error in
  /// any case.
  bool allowAbsent = false;
};

/// Returns whether any constant that an attribute or a subgraph of a node
/// holds has external data. Nodes of functions count; initializers of the main
/// graph do not.
bool hasNestedExternalData(const Model &model);

/// Finds the files that hold external data, and opens none of them. The
/// permitted directories are, in search order:
///  1. the directory of the model's path as given
///  2. the directory of the file to which the model's path resolves
///  3. ExternalDataOptions::extraRoot
/// Directory 2 differs from 1 in a Hugging Face cache, where model and data are
/// symlinks into a directory of blobs.
///
/// A location must be a relative path without "..". With all symlinks resolved,
/// the file must lie in a permitted directory, and it must be a regular file.
/// Outside of directory 3 it must also have exactly one hard link: a second
/// link could name a file elsewhere. Each location is looked up once; the
/// result is cached.
class ExternalData {
public:
  /// Determines the permitted directories for the model at `modelPath`.
  ExternalData(const std::string &modelPath,
               const ExternalDataOptions &options = {});

  /// Returns the canonical directory of the model's path as given; empty if the
  /// directory does not exist.
  const std::string &root() const { return rootPath; }

  /// Returns where the elements of `tensor` lie: in its external file or, for a
  /// tensor without one, in the model's own file. In the second case the
  /// elements must be a view of that file (see Model::fileOffset); otherwise an
  /// error results.
  ///
  /// An absent `offset` of the location means 0. An absent `length` means the
  /// byte size of the tensor, and any other `length` is an error.
  ///
  /// Errors have exit code 3, or 7 if the file may not be read. Each message
  /// names the tensor, and the location as written in the model.
  Result<DataReference> resolve(const Model &model, const Tensor &tensor);

private:
  /// The result of looking up one location.
  struct File {
    /// Reason why the file must not be used, if any.
    MaybeError error;
    /// Reference without offset and length; meaningful only without `error`.
    DataReference reference;
  };

  /// Returns the cached result of `find`.
  const File &lookUp(std::string_view location);
  /// Searches the permitted directories for `location`.
  File find(std::string_view location) const;
  /// Checks the existing file `found`, whose path still contains symlinks,
  /// against the rules of the class.
  File inspect(const std::filesystem::path &found,
               std::string_view location) const;
  /// Implements `resolve` for tensors without external data.
  Result<DataReference> resolveInModel(const Model &model,
                                       const Tensor &tensor);
  /// Returns whether a canonical path lies in a permitted directory.
  bool permitted(const std::filesystem::path &canonical) const;

  ExternalDataOptions options;
  std::string rootPath;
  /// File name of the model, relative to `rootPath`.
  std::string modelName;
  /// Permitted directories, canonical and without duplicates, in search order.
  std::vector<std::filesystem::path> directories;
  /// Canonical form of `options.extraRoot`; empty if there is none.
  std::filesystem::path extraDirectory;
  /// Cached lookups by location.
  std::map<std::string, File, std::less<>> files;
  /// Cached reference to the whole model file.
  std::optional<DataReference> modelFile;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_EXTERNALDATA_H
