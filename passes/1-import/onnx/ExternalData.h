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
  /// Offset of the tensor's first byte from the beginning of the file.
  uint64_t offset = 0;
  /// Number of bytes that the elements of the tensor occupy in the file.
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
  /// Directory that the user gives by the option --external-data-root. Files
  /// outside of the model file that hold bytes of tensors may lie in this
  /// directory. pcc searches the directory of the model first, and this
  /// directory last. The text is empty if the user does not give the option.
  std::string extraRoot;
  /// Whether a data file may be absent. A data file is a file outside of the
  /// model file that holds bytes of tensors. The option --random-weights sets
  /// this flag. pcc then uses random numbers for the tensors of an absent file.
  /// If a data file exists, pcc still checks that the file is long enough. For
  /// example, a tensor of 100 bytes at offset 4096 needs a file of at least
  /// 4196 bytes.
  bool allowAbsent = false;
};

/// Returns whether a tensor inside a node has external data (elements in
/// another file): in an attribute or in a subgraph. Examines the main graph and
/// all functions. Ignores the initializers of the main graph.
bool hasNestedExternalData(const Model &model);

/// Finds the files with external data (tensor bytes outside of the model file).
/// Searches the directory of the model's path, the directory to which a symlink
/// at this path leads, and --external-data-root. With all symlinks resolved, a
/// file must lie in one of them. A file with several hard links must lie in
/// --external-data-root, because it could be a private file of the user.
class ExternalData {
public:
  /// Creates an object that finds the data files of the model at `modelPath`.
  /// Data files are the files outside of the model file that hold bytes of the
  /// model's tensors. The constructor determines the directories in which these
  /// files may lie. It does not search for the files.
  ExternalData(const std::string &modelPath,
               const ExternalDataOptions &options = {});

  /// Returns the directory part of the path that the user gives for the model.
  /// The result is absolute and contains no symlinks. For the model path
  /// /models/m.onnx, the result is /models. If the model file is itself a
  /// symlink, this symlink is not followed: the result is /models even if
  /// /models/m.onnx is a symlink to /cache/blob. Returns "" if the directory
  /// does not exist.
  const std::string &root() const { return rootPath; }

  /// Returns the file, offset and length of the elements of `tensor`. Elements
  /// in the model file must be raw bytes. For elements in another file, the
  /// model gives the path and may give an offset (0 by default) and a length.
  /// The length must be the number of bytes of all elements. Returns an error
  /// if the file is too short. An error has exit code InputOutput if the system
  /// denies access to the file, otherwise CannotRead.
  StatusOr<DataReference> resolve(const Model &model, const Tensor &tensor);

  /// Checks whether pcc may read the existing file at `path` as a data file.
  /// After all symlinks are resolved, it must be a readable regular file in a
  /// directory that the class searches, or in a subdirectory. A file with
  /// several hard links must lie in --external-data-root or in a subdirectory.
  /// Error messages call the file `name`.
  Status check(const std::filesystem::path &path, std::string_view name) const {
    return inspect(path, name).error;
  }

private:
  /// Result of the search for one data file on disk. A data file is a file
  /// outside of the model file that holds bytes of tensors.
  struct File {
    /// Reason why pcc must not read the file; success if pcc may read it.
    Status error;
    /// Path, size and modification time of the data file. The members `offset`
    /// and `length` of the DataReference have no meaning here. If `error` is an
    /// error, the whole member `reference` has no meaning.
    DataReference reference;
  };

  /// Returns the result of the search for the data file at the relative path
  /// `location`. (A data file holds bytes of tensors.) The first call for a
  /// path searches the directories and stores the result in `files`. Each later
  /// call for the same path returns the stored result.
  const File &lookUp(std::string_view location);
  /// Searches for a file that holds bytes of tensors outside of the model file.
  /// The model gives the relative path `location` for this file. The function
  /// tries this path in each of `directories`, in order, and returns the first
  /// file that exists. For the directories /a and /b and the location w.bin, it
  /// tries /a/w.bin first and /b/w.bin second.
  File find(std::string_view location) const;
  /// Checks whether pcc may read the existing file at the path `found` as a
  /// data file. After all symlinks are resolved, it must be a readable regular
  /// file in one of `directories` or a subdirectory. A file with several hard
  /// links must lie in --external-data-root (`extraDirectory`) or a
  /// subdirectory. Error messages call the file `location`.
  File inspect(const std::filesystem::path &found,
               std::string_view location) const;
  /// Returns where the elements of `tensor` lie in the model file. The result
  /// contains the path of the model file, and the offset and the length of the
  /// elements in bytes. The caller must have checked that `tensor` has no
  /// external data (elements in another file). Returns an error if the model
  /// file does not store the elements as raw bytes.
  StatusOr<DataReference> resolveInModel(const Model &model,
                                         const Tensor &tensor);
  /// Returns whether the path `canonical` lies in one of `directories` or in a
  /// subdirectory. `directories` are the only directories from which pcc reads
  /// bytes of tensors. For example, if /models is the only directory, the
  /// result is true for /models/a/w.bin and false for /etc/passwd. The caller
  /// must resolve all symlinks in the path before the call.
  bool permitted(const std::filesystem::path &canonical) const;

  ExternalDataOptions options;
  std::string rootPath;
  /// File name of the model, without the directory.
  std::string modelName;
  /// Directories in which data files may lie. A data file is a file outside of
  /// the model file that holds bytes of tensors. pcc searches the directories
  /// for a data file in the order of this list. The paths are absolute, contain
  /// no symlinks, and differ from each other.
  std::vector<std::filesystem::path> directories;
  /// Canonical path of the directory that the user gives by the option
  /// --external-data-root. pcc searches this directory for files outside of the
  /// model file that hold bytes of tensors. The path is empty if the user does
  /// not give the option, or if the directory does not exist.
  std::filesystem::path extraDirectory;
  /// Results of earlier searches for data files. A data file is a file outside
  /// of the model file that holds bytes of tensors. The key is the relative
  /// path that the model gives for the data file. The value is the result of
  /// find() for this path.
  std::map<std::string, File, std::less<>> files;
  /// Path, size and modification time of the model file. Set by the first call
  /// of resolveInModel().
  std::optional<DataReference> modelFile;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_EXTERNALDATA_H
