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
  /// Path of the file, relative to the model's directory ExternalData::root().
  /// Symlinks in the path are kept. A file in another directory has a path like
  /// "../weights/w.bin".
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
  /// Whether the file exists. An absent file is an error unless
  /// ExternalDataOptions::allowAbsent is set.
  bool present = true;
};

/// The user's options for external data, the tensor bytes that ONNX stores
/// outside of the model file.
struct ExternalDataOptions {
  /// Further directory for data files (--external-data-root). It is searched
  /// after the model's own directory. Empty if the user gives none.
  std::string extraRoot;
  /// Whether a data file may be missing (--random-weights). Random numbers then
  /// replace its bytes. A file that exists must still be long enough.
  bool allowAbsent = false;
};

/// Returns whether a tensor in a node's attribute or in a subgraph has external
/// data (bytes in another file). Nodes of functions are included.
bool hasNestedExternalData(const Model &model);

/// Finds the files of external data (tensor bytes outside of the model file)
/// without opening them. Searches these directories, in this order:
///
///   1. the directory in the path by which the user names the model
///   2. the directory of the real model file, if that path is a symlink (as in
///      a Hugging Face cache)
///   3. the directory ExternalDataOptions::extraRoot
///
/// A data file is an error unless it meets these conditions:
///
///   - The model gives its location as a relative path without "..".
///   - It is a regular file. After symlinks are resolved, it lies in one of the
///     three directories.
///   - It has one hard link, unless it lies in directory 3. A second link could
///     make a file from elsewhere appear in the directory.
class ExternalData {
public:
  /// Determines the directories in which the data files of the model at
  /// `modelPath` may lie.
  ExternalData(const std::string &modelPath,
               const ExternalDataOptions &options = {});

  /// Returns the canonical directory part of the model's path. For
  /// /models/m.onnx, even if it is a symlink to /cache/blob, this is /models.
  /// Returns "" if the directory does not exist.
  const std::string &root() const { return rootPath; }

  /// Returns the file, offset and length of the elements of `tensor`. The file
  /// is the model file if the tensor has no external data. In external data, a
  /// missing offset counts as 0, and a missing length as the byte size of the
  /// tensor. Another length is an error. A tensor in the model file must be
  /// stored as raw bytes.
  ///
  /// An error has exit code InputOutput if the system denies access to the
  /// file, otherwise CannotRead.
  StatusOr<DataReference> resolve(const Model &model, const Tensor &tensor);

  /// Checks that the existing file at `path` may be read as a data file: a
  /// regular file in a directory that this object searches. It must have one
  /// hard link, unless it lies below --external-data-root. Error messages call
  /// it `name`.
  Status check(const std::filesystem::path &path, std::string_view name) const {
    return inspect(path, name).error;
  }

private:
  /// Result of the search for one data file.
  struct File {
    /// Reason why pcc must not read the file; success if pcc may read it.
    Status error;
    /// Path, size and modification time of the file. The offset and length are
    /// not set. Valid only if `error` is success.
    DataReference reference;
  };

  /// Returns find(location). Caches each result in `files`, so that a location
  /// is searched only once.
  const File &lookUp(std::string_view location);
  /// Searches `directories`, in order, for the data file with the relative path
  /// `location`.
  File find(std::string_view location) const;
  /// Checks the existing file `found`, a path that may contain symlinks. The
  /// file must be regular, readable and in one of `directories`. Outside of
  /// `extraDirectory` it must have only one hard link. Error messages call it
  /// `location`.
  File inspect(const std::filesystem::path &found,
               std::string_view location) const;
  /// Implements resolve() for a tensor without external data, whose bytes lie
  /// in the model file.
  StatusOr<DataReference> resolveInModel(const Model &model,
                                         const Tensor &tensor);
  /// Returns whether the path `canonical` lies in one of `directories`.
  bool permitted(const std::filesystem::path &canonical) const;

  ExternalDataOptions options;
  std::string rootPath;
  /// File name of the model, without the directory.
  std::string modelName;
  /// Directories in which data files may lie: canonical, without duplicates, in
  /// search order.
  std::vector<std::filesystem::path> directories;
  /// Canonical path of the user's further directory for data files
  /// (--external-data-root); empty if there is none.
  std::filesystem::path extraDirectory;
  /// Cached results of find(). The key is the relative path that the model
  /// gives for a data file.
  std::map<std::string, File, std::less<>> files;
  /// Path, size and modification time of the model file. Set by the first call
  /// of resolveInModel().
  std::optional<DataReference> modelFile;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_EXTERNALDATA_H
