//===- ExternalData.h - which bytes of which file a tensor is -------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_EXTERNALDATA_H
#define PCC_PASSES_1_IMPORT_ONNX_EXTERNALDATA_H

#include "passes/1-import/onnx/model/Error.h"
#include "passes/1-import/onnx/model/Model.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pcc::onnx {

/// Bytes of a weight file.
struct DataReference {
  /// Relative to ExternalData::root(), normalised; symlinks are kept as they
  /// are, so that the same reference works below another root. With "..", only
  /// if the file lies in another permitted directory.
  std::string path;
  uint64_t offset = 0;
  uint64_t length = 0;
  /// Size of the whole file when it was looked up; 0 if it is absent.
  uint64_t fileSize = 0;
  /// Modification time in nanoseconds since the epoch; 0 if it is absent.
  int64_t modified = 0;
  /// The file was there. False only where absent files are allowed.
  bool present = true;
};

struct ExternalDataOptions {
  /// A further directory in which data may lie (--external-data-root); empty
  /// for none.
  std::string extraRoot;
  /// A missing file is no error (--random-weights stands in for it). A wrong
  /// location and a file that is too short still are.
  bool allowAbsent = false;
};

/// Whether a constant of a node, of a subgraph or of a function lies in another
/// file.
bool hasNestedExternalData(const Model &model);

/// Finds the files that tensors point into, and opens none outside of the
/// permitted directories:
///  1. the directory of the model's path as given,
///  2. the directory of the file which that path resolves to (both, because a
///     Hugging Face cache shows model and data as symlinks into a folder of
///     blobs),
///  3. the extra root.
/// A location is a relative path without "..", looked up in 1, 2, 3 in this
/// order. What it resolves to, all symlinks followed, must lie in one of them,
/// be a regular file, and have one hard link only, as a second name may be that
/// of a file elsewhere (not asked of files in the extra root). Each file is
/// looked up once.
class ExternalData {
public:
  ExternalData(const std::string &modelPath,
               const ExternalDataOptions &options = {});

  /// The canonical directory of the model's path as given.
  const std::string &root() const { return rootPath; }

  /// Where the elements of `tensor` lie: in its external file, or in the model
  /// file itself if `model` views them there (it is an error if they are not a
  /// view: see Model::fileOffset). Errors name the tensor and the file as
  /// written in the model.
  ///
  /// `offset` defaults to 0 and `length` to the size of the tensor, which it
  /// must otherwise equal.
  Result<DataReference> resolve(const Model &model, const Tensor &tensor);

private:
  struct File {
    MaybeError error;
    DataReference reference;
  };

  const File &lookUp(std::string_view location);
  File find(std::string_view location) const;
  File inspect(const std::filesystem::path &found,
               std::string_view location) const;
  Result<DataReference> resolveInModel(const Model &model,
                                       const Tensor &tensor);
  bool permitted(const std::filesystem::path &canonical) const;

  ExternalDataOptions options;
  std::string rootPath;
  std::string modelName;
  /// Canonical, in the order of the search.
  std::vector<std::filesystem::path> directories;
  std::filesystem::path extraDirectory;
  std::map<std::string, File, std::less<>> files;
  std::optional<DataReference> modelFile;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_EXTERNALDATA_H
