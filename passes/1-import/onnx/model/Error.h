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

/// A fault of a model or of the files that it refers to.
struct Error {
  /// Exit code of the process: 3 if the model cannot be read, 4 if it uses an
  /// unsupported feature, 6 if its annotations cannot be met, 7 if the
  /// operating system refuses access or memory.
  int exitCode = 3;
  /// One line that begins in lower case and has no final period.
  std::string message;
  /// Further lines, each of which states a cause or a remedy.
  std::vector<std::string> notes;
};

/// An error, or nothing on success.
using MaybeError = std::optional<Error>;

/// A value on success, otherwise an error. Test the result as a boolean before
/// reading it: true means that it holds a value.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}

  /// Returns whether the result holds a value.
  explicit operator bool() const { return state.index() == 0; }
  // Access to the value. Undefined if the result holds an error.
  T &operator*() { return *std::get_if<T>(&state); }
  const T &operator*() const { return *std::get_if<T>(&state); }
  T *operator->() { return std::get_if<T>(&state); }
  const T *operator->() const { return std::get_if<T>(&state); }
  /// Returns the error. Undefined if the result holds a value.
  Error &error() { return *std::get_if<Error>(&state); }
  const Error &error() const { return *std::get_if<Error>(&state); }

private:
  std::variant<T, Error> state;
};

/// Returns `text` with each control character replaced by `\xNN`, so that text
/// from a model file cannot break or forge lines of a message.
std::string escaped(std::string_view text);

/// Returns `name` escaped and in single quotes, for messages. A name of more
/// than 200 bytes is abbreviated in the middle.
std::string quoted(std::string_view name);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_ERROR_H
