//===- ModelStorage.h - memory that the views of a model refer to ---------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_MODELSTORAGE_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_MODELSTORAGE_H

#include "runtime/base/MappedFile.h"
#include "status/Status.h"

#include <deque>
#include <string>
#include <string_view>

namespace pcc::onnx {

/// Keeps the memory to which the string views in a Model point: the bytes of
/// the model file, and strings that the reader creates. The method map() maps a
/// file, and the object owns the mapping. The method view() stores a pointer to
/// bytes that the caller must keep alive.
class ModelStorage {
public:
  /// Maps the regular file at `path` into memory, read-only. An empty file is
  /// no error. An error has the exit code InputOutput if the system denies
  /// access or lacks memory or file descriptors. Any other error has
  /// CannotRead.
  Status map(const std::string &path) {
    PCC_RETURN_IF_ERROR(runtime::MappedFile::open(path, mapping, CannotRead));
    content = mapping.text();
    return Status::success();
  }
  /// Uses `bytes` as the contents of the model file. The caller must keep
  /// `bytes` alive as long as the storage.
  void view(std::string_view bytes) { content = bytes; }
  /// Returns an error with the exit code CannotRead if the model file changed
  /// after map() mapped the file into memory. Returns success if the bytes of
  /// the model come from the method `view`.
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
  /// Memory mapping of the model file. If the bytes of the model come from the
  /// method `view` instead of a file, there is no mapping, and this object is
  /// empty.
  runtime::MappedFile mapping;
  /// Strings that keep() stores. The string views that keep() returns must stay
  /// valid when it stores more strings. The container is therefore a deque:
  /// unlike a vector, a deque does not move its elements as it grows.
  std::deque<std::string> strings;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MODELSTORAGE_H
