//===- ModelStorage.h - the bytes that a model's views point into ---------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_MODELSTORAGE_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_MODELSTORAGE_H

#include "passes/1-import/onnx/model/Error.h"

#include <deque>
#include <string>
#include <string_view>

namespace pcc::onnx {

/// The mapped file and the strings made while reading it. Views stay valid
/// until the storage dies.
class ModelStorage {
public:
  /// Maps the regular file at `path` read-only. Errors are kept for the caller;
  /// an empty file maps to no bytes.
  MaybeError map(const std::string &path);
  /// Views `bytes`, which somebody else keeps alive.
  void view(std::string_view bytes) { content = bytes; }

  ~ModelStorage();
  ModelStorage() = default;
  ModelStorage(const ModelStorage &) = delete;
  ModelStorage &operator=(const ModelStorage &) = delete;

  std::string_view file() const { return content; }
  std::string_view keep(std::string text) {
    return strings.emplace_back(std::move(text));
  }

private:
  std::string_view content;
  void *mapping = nullptr;
  std::deque<std::string> strings;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MODELSTORAGE_H
