//===- StopWatch.h - elapsed wall-clock time ------------------------------===//

#ifndef PCC_RUNTIME_BASE_STOPWATCH_H
#define PCC_RUNTIME_BASE_STOPWATCH_H

#include <chrono>

namespace pcc::runtime {

/// Measures the wall-clock time since the construction of the object, by the
/// monotonic clock.
class StopWatch {
public:
  /// Returns the seconds since this object was constructed.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         begin)
        .count();
  }

private:
  std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_STOPWATCH_H
