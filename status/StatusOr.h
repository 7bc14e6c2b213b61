//===- StatusOr.h - a value, or the error that prevented it ---------------===//

#ifndef PCC_STATUS_STATUSOR_H
#define PCC_STATUS_STATUSOR_H

#include "status/Status.h"

#include <cassert>
#include <optional>

namespace pcc {

/// A value of type `T`, or the error that prevented it. The object converts to
/// the boolean true if it holds a value; it must be tested before the value is
/// read. A caller must not ignore a returned StatusOr.
template <typename T> class [[nodiscard]] StatusOr {
public:
  /// Makes a StatusOr that holds `value`.
  StatusOr(T value) : value(std::move(value)) {}
  /// Makes a StatusOr without a value. `error` must not be a success.
  StatusOr(Status error) : error(std::move(error)) {
    assert(this->error.failed() && "a success needs a value");
  }

  explicit operator bool() const { return value.has_value(); }
  /// Returns the error, or success if there is a value.
  const Status &status() const { return error; }

  // Access to the value, which must exist.
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

private:
  Status error;
  std::optional<T> value;
};

/// Evaluates an expression that gives a StatusOr. Assigns its value to
/// `target`, which may declare a variable, or returns its error from the
/// enclosing function.
#define PCC_ASSIGN_OR_RETURN(target, ...)                                      \
  PCC_ASSIGN_OR_RETURN_FROM(PCC_NAME_OF_LINE(statusOr_, __LINE__), target,     \
                            (__VA_ARGS__))
// `target` may be a declaration, which cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define PCC_ASSIGN_OR_RETURN_FROM(result, target, expression)                  \
  auto result = expression;                                                    \
  if (!result)                                                                 \
    return result.status();                                                    \
  target = std::move(*result)
// NOLINTEND(bugprone-macro-parentheses)
#define PCC_NAME_OF_LINE(name, line) PCC_JOINED(name, line)
#define PCC_JOINED(name, line) name##line

} // namespace pcc

#endif // PCC_STATUS_STATUSOR_H
