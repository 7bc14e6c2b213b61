//===- Kernel.cpp - calls of kernels that pcc has compiled ----------------===//

#include "runtime/device/cpu/CpuResources.h"
#include "runtime/device/cpu/InstructionSet.h"

#include <algorithm>

namespace pcc::runtime {

namespace {
/// Calls one kernel. A kernel is a function that pcc has compiled. The kernel
/// contains a loop. The iterations of the loop are independent of each other,
/// and are divided over the threads. If more than one thread is used, each
/// thread executes at least `kernel.grain` iterations.
///
/// The kernel has two arrays as arguments: the addresses of buffers
/// (`pointers`), and integers (`scalars`). The constructor allocates both
/// arrays. Each run overwrites their elements.
class KernelOperation : public Operation {
public:
  KernelOperation(const ThreadTeam &threads, const LoadContext &context,
                  const program::KernelT &kernel, KernelFunction function)
      : threads(threads), context(context), kernel(kernel), function(function),
        pointers(kernel.buffers.size()), scalars(kernel.scalars.size()) {}

  Status run(const RunContext &run) override {
    for (size_t i = 0; i < pointers.size(); ++i)
      pointers[i] = context.buffers.at(kernel.buffers[i], run.microbatch);
    for (size_t i = 0; i < scalars.size(); ++i)
      scalars[i] = evaluate(*kernel.scalars[i], context.mesh, run.at);
    threads.parallelFor(kernel.extent, kernel.grain,
                        [this](int64_t begin, int64_t end) {
                          function(pointers.data(), scalars.data(), begin, end);
                        });
    return Status::success();
  }

private:
  const ThreadTeam &threads;
  LoadContext context;
  const program::KernelT &kernel;
  KernelFunction function;
  std::vector<void *> pointers;
  std::vector<int64_t> scalars;
};
} // namespace

Status prepareKernel(CpuResources &resources, const LoadContext &context,
                     const program::InstructionT &instruction,
                     std::unique_ptr<Operation> &operation) {
  const program::KernelT &kernel = *instruction.body.AsKernel();
  const KernelFunction *kernels = nullptr;
  PCC_RETURN_IF_ERROR(
      chooseVariant(context.image, context.program.num_kernels, kernels));
  if (!kernels)
    return Status::error(DamagedBundle, "the program has no kernels");
  operation = std::make_unique<KernelOperation>(resources.threads(), context,
                                                kernel, kernels[kernel.kernel]);
  return Status::success();
}

} // namespace pcc::runtime
