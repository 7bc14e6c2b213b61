//===- ThreadTeam.h - team of threads that shares loops -------------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H
#define PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H

#include <cstdint>

namespace pcc::runtime {

/// Executes loops on several threads. The iterations of a loop are divided into
/// contiguous ranges, and each thread executes one range. Each rank has one
/// ThreadTeam.
///
/// The library libgomp creates the threads. oneDNN also uses the threads of
/// libgomp. The loops and oneDNN therefore use the same threads.
class ThreadTeam {
public:
  /// Creates a team of `numThreads` threads. The calling thread counts as one
  /// of them.
  explicit ThreadTeam(int numThreads) : numThreads(numThreads) {}

  /// Returns the number of threads, including the thread that calls
  /// parallelFor().
  int size() const { return numThreads; }

  /// Sets the number of threads that libraries such as oneDNN use when the
  /// current thread calls them. The new number is the number of threads of this
  /// team. The setting applies to all libraries that create their threads with
  /// libgomp. It does not apply to calls from other threads.
  void adopt() const;

  /// Executes a loop with the iterations 0 to extent - 1 on several threads.
  /// Divides the iterations into contiguous ranges, and calls
  /// `body(begin, end)` once for each range. Each call is on a thread of its
  /// own, and executes the iterations begin to end - 1. Blocks until all calls
  /// have returned.
  ///
  /// The number of ranges is at most the number of threads of this team.
  /// `grain` is the smallest number of iterations that is worth a thread: if
  /// there are two or more ranges, each range has at least `grain` iterations.
  /// For example, let `extent` be 100, and let the team have 8 threads. If
  /// `grain` is 64, there is one range. If `grain` is 30, there are three
  /// ranges, of 34, 33 and 33 iterations.
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
  /// Pointer to a function that executes the iterations `begin` to `end` - 1 of
  /// a loop. The function calls the callable object that was passed to
  /// parallelFor(), for example a lambda expression. `context` is the address
  /// of this object.
  using LoopBody = void (*)(const void *context, int64_t begin, int64_t end);
  /// Executes a loop with the iterations 0 to extent - 1 on several threads.
  /// parallelFor() calls this function. Divides the iterations into contiguous
  /// ranges, and calls `piece(context, begin, end)` once for each range. Each
  /// call is on a thread of its own, and executes the iterations begin to
  /// end - 1. `context` is passed to each call unchanged. `grain` is the
  /// smallest number of iterations that is worth a thread: if there are two or
  /// more ranges, each range has at least `grain` iterations.
  void run(int64_t extent, int64_t grain, LoopBody piece,
           const void *context) const;

  int numThreads;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_THREADTEAM_H
