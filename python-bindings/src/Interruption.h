//===- Interruption.h - Ctrl-C while C++ works ----------------------------===//

#ifndef PCC_PYTHON_BINDINGS_SRC_INTERRUPTION_H
#define PCC_PYTHON_BINDINGS_SRC_INTERRUPTION_H

#include <functional>
#include <nanobind/nanobind.h>
#include <optional>

namespace pcc::python {

/// What a thread does that waits for long work without the interpreter's lock:
/// it calls `poll` now and then. When a handler of Python raises,
/// KeyboardInterrupt as a rule, the work is told to stop; when it has,
/// `rethrow` raises.
class Interruption {
public:
  explicit Interruption(std::function<void()> stop) : stop(std::move(stop)) {}

  /// Without the lock.
  void poll();
  /// With the lock.
  void rethrow();

private:
  std::function<void()> stop;
  std::optional<nanobind::python_error> raised;
};

} // namespace pcc::python

#endif // PCC_PYTHON_BINDINGS_SRC_INTERRUPTION_H
