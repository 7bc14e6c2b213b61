//===- StopWatch.h - seconds since it was made ----------------------------===//

#ifndef PCC_RUNTIME_BASE_STOPWATCH_H
#define PCC_RUNTIME_BASE_STOPWATCH_H

#include <chrono>

namespace pcc::runtime {

class StopWatch {
public:
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
