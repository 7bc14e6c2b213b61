//===- ThreadTeam.h - team of threads that shares loops -------------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H
#define PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H

#include <cstdint>

namespace pcc::runtime {

/// The threads of one rank, over which loops are divided. The threads belong to
/// libgomp. oneDNN uses the same threads, so that a rank never has two sets of
/// threads that compete for its cores.
class ThreadTeam {
public:
  /// Creates a team of `numThreads` threads. The calling thread counts as one
  /// of them.
  explicit ThreadTeam(int numThreads) : numThreads(numThreads) {}

  /// Returns the number of threads, including the calling one.
  int size() const { return numThreads; }

  /// Sets the number of threads that libraries based on libgomp use, when they
  /// are called from the current thread, to size().
  void adopt() const;

  /// Divides the iterations [0, extent) into contiguous pieces of nearly equal
  /// size. Calls `body(begin, end)` for each piece on a separate thread, and
  /// blocks until all pieces are complete. The number of pieces is at most
  /// size() and at most max(1, floor(extent / grain)). For example, extent 100
  /// with grain 64 gives one piece, and with grain 50 at most two.
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
  /// Body of a loop as a function pointer. `context` is the address of the C++
  /// object that parallelFor() was given.
  using LoopBody = void (*)(const void *context, int64_t begin, int64_t end);
  /// Implements parallelFor(): calls `piece(context, begin, end)` for each
  /// piece.
  void run(int64_t extent, int64_t grain, LoopBody piece,
           const void *context) const;

  int numThreads;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H
