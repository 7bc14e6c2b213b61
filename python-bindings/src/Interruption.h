//===- Interruption.h - Ctrl-C during long calls into C++ -----------------===//

#ifndef PCC_PYTHON_BINDINGS_SRC_INTERRUPTION_H
#define PCC_PYTHON_BINDINGS_SRC_INTERRUPTION_H

#include <functional>
#include <nanobind/nanobind.h>
#include <optional>

namespace pcc::python {

/// Lets Python handle signals while a thread waits for long work without the
/// GIL. The thread calls poll() from time to time. If a Python signal handler
/// raises an exception, usually KeyboardInterrupt, the work is told to stop
/// once. After the work has ended, rethrow() raises the exception.
class Interruption {
public:
  /// `stop` tells the work to end. poll() calls it with the GIL held.
  explicit Interruption(std::function<void()> stop) : stop(std::move(stop)) {}

  /// Runs the pending Python signal handlers if the caller is the main thread.
  /// The caller must not hold the GIL.
  void poll();
  /// Raises the exception of a handler; does nothing if there was none. The
  /// caller must hold the GIL.
  void rethrow();

private:
  std::function<void()> stop;
  /// The exception of a handler, until it is rethrown.
  std::optional<nanobind::python_error> raised;
};

} // namespace pcc::python

#endif // PCC_PYTHON_BINDINGS_SRC_INTERRUPTION_H
