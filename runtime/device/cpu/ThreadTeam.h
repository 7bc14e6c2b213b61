//===- ThreadTeam.h - divides loops over threads --------------------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H
#define PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H

#include <cstdint>

namespace pcc::runtime {

/// The threads of one rank. They are those of libgomp, which oneDNN uses too,
/// so that a rank never has two teams that compete for its cores.
class ThreadTeam {
public:
  explicit ThreadTeam(int numThreads) : numThreads(numThreads) {}

  int size() const { return numThreads; }

  /// Makes this team the one that libraries use when they are called from the
  /// current thread.
  void adopt() const;

  /// Calls `body(begin, end)` for consecutive pieces of [0, extent), each at
  /// least `grain` long where possible, and waits for all.
  template <typename Body>
  void parallelFor(int64_t extent, int64_t grain, const Body &body) const {
    run(
        extent, grain,
        [](const void *context, int64_t begin, int64_t end) {
          (*static_cast<const Body *>(context))(begin, end);
        },
        &body);
  }

private:
  using LoopBody = void (*)(const void *context, int64_t begin, int64_t end);
  void run(int64_t extent, int64_t grain, LoopBody piece,
           const void *context) const;

  int numThreads;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H
