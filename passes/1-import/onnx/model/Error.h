//===- Error.h - what is wrong with a model file --------------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_ERROR_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_ERROR_H

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pcc::onnx {

/// A mistake of the model or of its files. `message` is one line that begins in
/// lower case; `notes` are further lines, each a cause.
struct Error {
  /// As in the table of exit codes: 3 for a model that cannot be read, 6 for
  /// annotations that cannot be met, 7 where the operating system refuses.
  int exitCode = 3;
  std::string message;
  std::vector<std::string> notes;
};

/// Nothing, or what went wrong.
using MaybeError = std::optional<Error>;

/// A value, or what went wrong instead. The value may only be read if the
/// result is true.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() { return *std::get_if<T>(&state); }
  const T &operator*() const { return *std::get_if<T>(&state); }
  T *operator->() { return std::get_if<T>(&state); }
  const T *operator->() const { return std::get_if<T>(&state); }
  /// Only if the result is false.
  Error &error() { return *std::get_if<Error>(&state); }
  const Error &error() const { return *std::get_if<Error>(&state); }

private:
  std::variant<T, Error> state;
};

/// `text` as one line: control characters are escaped.
std::string escaped(std::string_view text);

/// `name` in single quotes, fit for one line of a terminal: control characters
/// are escaped, long names are cut in the middle.
std::string quoted(std::string_view name);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_ERROR_H
