//===- KernelCheck.h - a kernel beside its twin ---------------------------===//

#ifndef PCC_BENCH_GPU_PROBE_KERNELCHECK_H
#define PCC_BENCH_GPU_PROBE_KERNELCHECK_H

#include "runtime/device/Device.h"

#include <functional>
#include <map>

namespace pcc::bench {

/// How far the results of a kernel are from those of the processor's kernel of
/// the same number, by their type ("bf16"): the largest difference over the
/// largest magnitude that the twin has computed; where sums cancel, and what is
/// left is below 1e-4 of what was read, over the largest magnitude of that.
using Errors = std::map<std::string, double, std::less<>>;

/// Calls the processor's kernel with the buffers of a GPU's, before the GPU
/// writes them, and compares. One thread computes all of it.
class KernelCheck {
public:
  KernelCheck(const runtime::LoadContext &context,
              const program::KernelT &kernel, runtime::KernelFunction twin)
      : context(context), kernel(kernel), twin(twin) {}

  /// `launch` has the GPU do its part, and returns when that is done.
  Status run(const runtime::RunContext &run,
             const std::function<Status()> &launch, Errors &errors);

private:
  /// Host memory for all that one launch touches: buffers that share bytes on
  /// the GPU share them here.
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
