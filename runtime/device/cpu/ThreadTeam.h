//===- ThreadTeam.h - team of threads that shares loops -------------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H
#define PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H

#include <cstdint>

namespace pcc::runtime {

/// The threads of one rank, which share the iterations of loops. They belong to
/// libgomp, so that oneDNN uses the same threads.
class ThreadTeam {
public:
  /// Creates a team of `numThreads` threads. The calling thread counts as one
  /// of them.
  explicit ThreadTeam(int numThreads) : numThreads(numThreads) {}

  /// Returns the number of threads, including the thread that calls
  /// parallelFor().
  int size() const { return numThreads; }

  /// Makes libraries that use libgomp, such as oneDNN, use size() threads.
  /// Affects only calls from the current thread.
  void adopt() const;

  /// Calls `body(begin, end)` for contiguous pieces of [0, extent), each on its
  /// own thread. Blocks until all pieces are complete. There are at most size()
  /// pieces, each with at least `grain` iterations. For example, extent 100
  /// gives one piece for grain 64, and at most two pieces for grain 50.
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
  /// Body of a loop as a function pointer, called for the iterations [begin,
  /// end). `context` is the address of the C++ callable that parallelFor()
  /// received.
  using LoopBody = void (*)(const void *context, int64_t begin, int64_t end);
  /// Implements parallelFor(): divides the iterations [0, extent) into pieces
  /// (contiguous ranges) and calls `piece(context, begin, end)` for each piece.
  void run(int64_t extent, int64_t grain, LoopBody piece,
           const void *context) const;

  int numThreads;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H
