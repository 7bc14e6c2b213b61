//===- Error.h - errors and results of the ONNX reader --------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_ERROR_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_ERROR_H

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pcc::onnx {

/// An error about an ONNX model or about a file that the model refers to.
struct Error {
  /// Exit code of pcc: 3 if the model cannot be read, 4 if it uses a feature
  /// that pcc does not support, 6 if its annotations cannot be met, 7 if the
  /// operating system refuses access or memory.
  int exitCode = 3;
  /// One line that begins in lower case and has no final period.
  std::string message;
  /// Further lines, each of which states a cause or a remedy.
  std::vector<std::string> notes;
};

/// An error, or nothing on success.
using MaybeError = std::optional<Error>;

/// Either a value or the error that prevented it. Must be tested as a boolean
/// before it is read: true means that it holds a value.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}

  /// Returns whether the result holds a value.
  explicit operator bool() const { return state.index() == 0; }
  // Access to the value. The behavior is undefined if the result holds an
  // error.
  T &operator*() { return *std::get_if<T>(&state); }
  const T &operator*() const { return *std::get_if<T>(&state); }
  T *operator->() { return std::get_if<T>(&state); }
  const T *operator->() const { return std::get_if<T>(&state); }
  /// Returns the error. The behavior is undefined if the result holds a value.
  Error &error() { return *std::get_if<Error>(&state); }
  const Error &error() const { return *std::get_if<Error>(&state); }

private:
  std::variant<T, Error> state;
};

/// Returns `text` with each control character replaced by `\xNN`, so that a
/// line break or terminal code in a model file cannot alter pcc's messages.
std::string escaped(std::string_view text);

/// Returns `name` in single quotes for messages, with control characters
/// replaced as by `escaped`. In a name of more than 200 bytes, "…" replaces the
/// middle.
std::string quoted(std::string_view name);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_ERROR_H
