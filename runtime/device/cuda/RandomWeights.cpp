//===- RandomWeights.cpp - generation of random weights by kernels --------===//

#include "runtime/device/cuda/CudaResources.h"
#include "runtime/tensor/RandomValues.h"

namespace pcc::runtime {

/// Launches the kernel `function`, which generates elements of a random tensor
/// and writes them to the GPU memory `to`. `part` has the other arguments of
/// the kernel: the key of the random numbers, and nested loops that select the
/// elements. Each CUDA thread generates one element. Does nothing if there are
/// no elements to generate.
static Status launch(CudaContext &gpu, CUfunction function, RandomScalars part,
                     void *to) {
  int64_t elements = 1;
  std::vector<void *> arguments = {static_cast<void *>(&to), &part.key,
                                   &part.sourceOffset, &part.targetOffset};
  for (CopyLoop &loop : part.loops) {
    elements *= loop.extent;
    arguments.insert(arguments.end(),
                     {&loop.extent, &loop.sourceStride, &loop.targetStride});
  }
  if (elements == 0)
    return Status::success();
  const int64_t blocks =
      (elements + RandomScalars::threads - 1) / RandomScalars::threads;
  return gpu.launch(function, blocks, RandomScalars::threads, arguments);
}

Status makeRandom(CudaResources &resources, const ProgramImage &image,
                  int32_t kernel, uint64_t key,
                  std::span<const StridedCopy> copies, void *to) {
  CUfunction function = nullptr;
  PCC_RETURN_IF_ERROR(resources.findKernel(image, kernel, function));
  Status status = Status::success();
  for (const StridedCopy &copy : copies)
    forEachRandomPart(key, copy, [&](const RandomScalars &part) {
      if (!status.failed())
        status = launch(resources.context(), function, part, to);
    });
  return status;
}

} // namespace pcc::runtime
