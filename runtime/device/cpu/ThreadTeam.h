//===- ThreadTeam.h - team of threads that shares loops -------------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H
#define PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H

#include <cstdint>

namespace pcc::runtime {

/// The threads of one rank. The threads belong to libgomp, which oneDNN uses as
/// well. A rank therefore never has two teams that compete for its cores.
class ThreadTeam {
public:
  /// Creates a team of `numThreads` threads, of which the calling thread is
  /// one.
  explicit ThreadTeam(int numThreads) : numThreads(numThreads) {}

  /// Returns the number of threads.
  int size() const { return numThreads; }

  /// Makes libraries that use libgomp use this number of threads when they are
  /// called from the current thread.
  void adopt() const;

  /// Divides [0, extent) into consecutive pieces of nearly equal size, at most
  /// one per thread. Calls `body(begin, end)` for each piece on a thread of its
  /// own, and blocks until all pieces are done. No more threads are used than
  /// there are pieces of `grain` iterations, so a short loop runs on the
  /// calling thread only.
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
  /// Body of a loop without its C++ type: `context` is the address of the body.
  using LoopBody = void (*)(const void *context, int64_t begin, int64_t end);
  /// Implements parallelFor() for a body without its type.
  void run(int64_t extent, int64_t grain, LoopBody piece,
           const void *context) const;

  int numThreads;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H
