//===- ThreadTeam.cpp - team of threads that shares loops -----------------===//

#include "runtime/device/cpu/ThreadTeam.h"

#include <algorithm>

// Functions of libgomp. They are declared here because clang's -fopenmp would
// link another OpenMP runtime, which creates a second set of threads.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void GOMP_parallel(void (*body)(void *), void *data, unsigned numThreads,
                   unsigned flags);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
void omp_set_num_threads(int numThreads);
}
// NOLINTEND(readability-identifier-naming)

namespace pcc::runtime {

namespace {
/// Describes a loop that several threads execute together. The loop has the
/// iterations 0 to `extent` - 1. Each thread executes one contiguous range of
/// iterations. To execute the iterations `begin` to `end` - 1, a thread calls
/// `piece(context, begin, end)`. `context` is an address that the thread passes
/// to `piece`.
struct ParallelLoop {
  int64_t extent;
  void (*piece)(const void *, int64_t, int64_t);
  const void *context;
};
} // namespace

/// Executes the iterations of a loop that belong to the calling thread. Each
/// thread of the parallel region calls this function once. `data` is the
/// address of a ParallelLoop, which describes the loop. Each thread has one
/// contiguous range of iterations. For example, if 4 threads execute 10
/// iterations, the ranges have 3, 3, 2 and 2 iterations.
static void runPiece(void *data) {
  const ParallelLoop &loop = *static_cast<const ParallelLoop *>(data);
  const int64_t count = omp_get_num_threads(), index = omp_get_thread_num();
  const int64_t share = loop.extent / count, rest = loop.extent % count;
  const int64_t begin = index * share + std::min(index, rest);
  const int64_t end = begin + share + (index < rest);
  if (begin < end)
    loop.piece(loop.context, begin, end);
}

void ThreadTeam::adopt() const { omp_set_num_threads(numThreads); }

void ThreadTeam::run(int64_t extent, int64_t grain, LoopBody piece,
                     const void *context) const {
  if (extent <= 0)
    return;
  const int64_t useful =
      std::max<int64_t>(extent / std::max<int64_t>(grain, 1), 1);
  const int64_t threads = std::min<int64_t>(numThreads, useful);
  if (threads == 1)
    return piece(context, 0, extent);
  ParallelLoop loop{extent, piece, context};
  GOMP_parallel(runPiece, &loop, unsigned(threads), 0);
}

} // namespace pcc::runtime
