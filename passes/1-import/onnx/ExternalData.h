//===- ExternalData.h - locator of external tensor data -------------------===//
//
// ONNX lets a tensor refer to bytes of a further file ("external data"). The
// location is text from an untrusted model. The locator therefore confines the
// files that a model can name to directories that the user has chosen.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_EXTERNALDATA_H
#define PCC_PASSES_1_IMPORT_ONNX_EXTERNALDATA_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/StatusOr.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pcc::onnx {

/// The contiguous range of bytes in a file that holds the elements of one
/// tensor.
struct DataReference {
  /// Path of the file relative to ExternalData::root(). The path is normalized,
  /// but its symlinks are not resolved, so that the path is also valid in a
  /// copy of the directory. The path begins with ".." only if the file lies in
  /// another permitted directory.
  std::string path;
  /// Offset of the first byte from the start of the file.
  uint64_t offset = 0;
  /// Size of the range in bytes.
  uint64_t length = 0;
  /// Size of the whole file in bytes when it was looked up; 0 if the file is
  /// absent.
  uint64_t fileSize = 0;
  /// Modification time of the file in nanoseconds since the epoch; 0 if the
  /// file is absent.
  int64_t modified = 0;
  /// Whether the file exists. Always true if ExternalDataOptions::allowAbsent
  /// is false, because an absent file is then an error.
  bool present = true;
};

/// The user's options for external data, the tensor bytes that ONNX stores
/// outside of the model file.
struct ExternalDataOptions {
  /// Directory (--external-data-root) in which data files may lie besides the
  /// model's own directory; empty for none.
  std::string extraRoot;
  /// Whether a data file may be missing, because random weights
  /// (--random-weights) replace its contents. An invalid location and a file
  /// that is too short are errors nevertheless.
  bool allowAbsent = false;
};

/// Returns whether a tensor that is no initializer of the main graph has
/// external data: a tensor in an attribute of a node, or an initializer of a
/// subgraph. Nodes of functions are included.
bool hasNestedExternalData(const Model &model);

/// Finds the files that hold external data (tensor bytes outside of the model
/// file) without opening them. The directories in which such a file may lie
/// are, in search order:
///
///   1. the directory of the model's path as given
///   2. the directory of the file to which the model's path resolves
///   3. ExternalDataOptions::extraRoot
///
/// Directories 1 and 2 differ in a Hugging Face cache, where model and data are
/// symlinks into a directory of blobs. A data file must meet these conditions:
///
///   - The model gives its location as a relative path without "..".
///   - After symlinks are resolved, it is a regular file in one of the three
///     directories.
///   - Outside of directory 3 it has only one hard link. A second link could
///     make a file from elsewhere appear in the directory.
///
/// Each location is looked up once, and the result is cached.
class ExternalData {
public:
  /// Determines the directories in which the data files of the model at
  /// `modelPath` may lie.
  ExternalData(const std::string &modelPath,
               const ExternalDataOptions &options = {});

  /// Returns the canonical path of the directory that contains the model; empty
  /// if that directory does not exist. It is the directory of the model's path
  /// as given, before symlinks of the model file are resolved.
  const std::string &root() const { return rootPath; }

  /// Returns where the elements of `tensor` lie: in an external file, or in the
  /// model's own file. In the model's own file, Tensor::raw must be a view of
  /// that file (see Model::fileOffset). Elements that were decoded into other
  /// memory are an error.
  ///
  /// The model may omit the `offset` of external data, which is then 0. If the
  /// model gives a `length`, it must be the byte size of the tensor.
  ///
  /// Errors have exit code InputOutput if the system denies access to the file,
  /// otherwise CannotRead.
  StatusOr<DataReference> resolve(const Model &model, const Tensor &tensor);

  /// Checks the existing file at `path` against the rules in the comment of the
  /// class, whatever its location. Messages call it `name`.
  Status check(const std::filesystem::path &path, std::string_view name) const {
    return inspect(path, name).error;
  }

private:
  /// Result of the search for the file at one location.
  struct File {
    /// Reason why the file must not be used; empty if it may be used.
    Status error;
    /// Path, size and time of the file. Offset and length are not set. Must not
    /// be used if there is an `error`.
    DataReference reference;
  };

  /// Returns the result of `find` for `location`. Calls `find` only once per
  /// location and caches the result in `files`.
  const File &lookUp(std::string_view location);
  /// Searches the permitted directories for the file at `location`.
  File find(std::string_view location) const;
  /// Checks the existing file `found` against the rules that the comment of
  /// ExternalData lists. The path `found` may contain symlinks.
  File inspect(const std::filesystem::path &found,
               std::string_view location) const;
  /// Implements `resolve` for a tensor without external data, whose elements
  /// are in the model file.
  StatusOr<DataReference> resolveInModel(const Model &model,
                                         const Tensor &tensor);
  /// Returns whether the path `canonical` lies in a permitted directory.
  bool permitted(const std::filesystem::path &canonical) const;

  ExternalDataOptions options;
  std::string rootPath;
  /// File name of the model, without the directory.
  std::string modelName;
  /// Directories in which data files may lie: canonical, without duplicates, in
  /// search order.
  std::vector<std::filesystem::path> directories;
  /// Canonical path of the directory `options.extraRoot`; empty if the user
  /// gives none.
  std::filesystem::path extraDirectory;
  /// Results of `find` so far, by location.
  std::map<std::string, File, std::less<>> files;
  /// Reference to the whole model file, made when a tensor in that file is
  /// first resolved.
  std::optional<DataReference> modelFile;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_EXTERNALDATA_H
