//===- KernelCheck.h - a kernel beside its twin ---------------------------===//

#ifndef PCC_BENCH_GPU_PROBE_KERNELCHECK_H
#define PCC_BENCH_GPU_PROBE_KERNELCHECK_H

#include "runtime/device/Device.h"

#include <functional>
#include <map>

namespace pcc::bench {

/// Errors of a kernel's results by element type ("bf16"), compared with the CPU
/// kernel of the same number (its twin). The error is the largest difference,
/// relative to the largest magnitude that the twin has computed. If sums
/// cancel, so that the results are below 1e-4 of the operands, it is relative
/// to the largest magnitude of the operands.
using Errors = std::map<std::string, double, std::less<>>;

/// Calls the CPU kernel with copies of a GPU kernel's buffers, taken before the
/// GPU writes them, and compares the results. One thread computes everything.
class KernelCheck {
public:
  KernelCheck(const runtime::LoadContext &context,
              const program::KernelT &kernel, runtime::KernelFunction twin)
      : context(context), kernel(kernel), twin(twin) {}

  /// Runs the twin and compares. `launch` launches the GPU's kernel and returns
  /// when it has ended.
  Status run(const runtime::RunContext &run,
             const std::function<Status()> &launch, Errors &errors);

private:
  /// Host memory for all memory that one launch touches. Buffers that share
  /// bytes on the GPU share them here.
  struct Region {
    const char *begin, *end; ///< on the GPU
    std::vector<char> bytes;
  };

  Status mirror(int64_t microbatch);
  char *find(const void *address);
  std::vector<int64_t> scalarsAt(const runtime::Coordinates &at) const;
  Status compare(size_t buffer, int64_t microbatch, Errors &errors);
  int64_t bytesOf(size_t buffer) const;
  runtime::ElementType typeOf(size_t buffer) const;
  bool isResult(size_t buffer) const;

  const runtime::LoadContext context;
  const program::KernelT &kernel;
  const runtime::KernelFunction twin;
  std::vector<Region> regions;
  double largestRead = 0;
};

} // namespace pcc::bench

#endif // PCC_BENCH_GPU_PROBE_KERNELCHECK_H
