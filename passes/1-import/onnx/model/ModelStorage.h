//===- ModelStorage.h - memory that the views of a model refer to ---------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_MODELSTORAGE_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_MODELSTORAGE_H

#include "runtime/base/MappedFile.h"
#include "status/Status.h"

#include <deque>
#include <string>
#include <string_view>

namespace pcc::onnx {

/// Stores the memory to which the string views in a Model point. This memory
/// is the bytes of the model file, and the strings that the reader creates. The
/// string views stay valid until the ModelStorage is destroyed. The bytes of
/// the model file must be set exactly once. `map` maps a file into memory;
/// `view` uses bytes that the caller owns.
class ModelStorage {
public:
  /// Maps the regular file at `path` into memory, read-only. An empty file is
  /// no error and has no bytes. The exit code of an error is InputOutput if
  /// the operating system refuses access or memory, otherwise CannotRead.
  Status map(const std::string &path) {
    PCC_RETURN_IF_ERROR(runtime::MappedFile::open(path, mapping, CannotRead));
    content = mapping.text();
    return Status::success();
  }
  /// Uses `bytes` as the contents of the model file. The caller must keep
  /// `bytes` alive as long as the storage.
  void view(std::string_view bytes) { content = bytes; }
  /// Returns an error with exit code 3 if the mapped file changed while it was
  /// read.
  Status checkUnchanged() const { return mapping.checkUnchanged(CannotRead); }

  ModelStorage() = default;
  ModelStorage(const ModelStorage &) = delete;
  ModelStorage &operator=(const ModelStorage &) = delete;

  /// Returns the bytes of the model file.
  std::string_view file() const { return content; }
  /// Stores `text` and returns a view of the stored copy.
  std::string_view keep(std::string text) {
    return strings.emplace_back(std::move(text));
  }

private:
  std::string_view content;
  /// The model file; empty if no file is mapped.
  runtime::MappedFile mapping;
  /// Strings stored by `keep`, which returns a view of each string. The views
  /// must stay valid when `keep` adds more strings. The container is therefore
  /// a deque: unlike a vector, a deque does not move its elements as it grows.
  std::deque<std::string> strings;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MODELSTORAGE_H
