//===- Kernel.cpp - launches generated kernels ----------------------------===//

#include "runtime/device/cuda/CudaResources.h"

namespace pcc::runtime {

namespace {
class LaunchOperation : public Operation {
public:
  LaunchOperation(const CudaContext &gpu, const LoadContext &context,
                  const program::KernelT &kernel, CUfunction function)
      : gpu(gpu), context(context), kernel(kernel), function(function),
        pointers(kernel.buffers.size()), scalars(kernel.scalars.size()) {
    for (void *&pointer : pointers)
      arguments.push_back(&pointer);
    for (int64_t &scalar : scalars)
      arguments.push_back(&scalar);
  }

  Status run(const RunContext &run) override {
    if (kernel.blocks == 0)
      return Status::success();
    for (size_t i = 0; i < pointers.size(); ++i)
      pointers[i] = context.buffers.at(kernel.buffers[i], run.microbatch);
    for (size_t i = 0; i < scalars.size(); ++i)
      scalars[i] = evaluate(*kernel.scalars[i], context.mesh, run.at);
    return gpu.check(gpu.driver().cuLaunchKernel(
                         function, unsigned(kernel.blocks), 1, 1,
                         unsigned(kernel.threads), 1, 1, /*sharedMemBytes=*/0,
                         gpu.stream(), arguments.data(), nullptr),
                     "cuLaunchKernel");
  }

private:
  const CudaContext &gpu;
  LoadContext context;
  const program::KernelT &kernel;
  CUfunction function;
  std::vector<void *> pointers;
  std::vector<int64_t> scalars;
  std::vector<void *> arguments; ///< where they are
};
} // namespace

Status prepareKernel(CudaResources &resources, const LoadContext &context,
                     const program::InstructionT &instruction,
                     std::unique_ptr<Operation> &operation) {
  const program::KernelT &kernel = *instruction.body.AsKernel();
  CUfunction function = nullptr;
  if (Status status =
          resources.findKernel(context.image, kernel.kernel, function);
      status.failed())
    return status;
  operation = std::make_unique<LaunchOperation>(resources.context(), context,
                                                kernel, function);
  return Status::success();
}

} // namespace pcc::runtime
