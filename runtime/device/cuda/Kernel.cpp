//===- Kernel.cpp - launches of kernels that pcc has compiled -------------===//

#include "runtime/device/cuda/CudaResources.h"
#include "runtime/program/TensorTable.h"

#include <limits>

namespace pcc::runtime {

namespace {
/// Launch of a kernel whose parameters are the addresses of its buffers and
/// then its scalars. The list of parameters is made once; only the values
/// change between runs.
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
    return gpu.launch(function, kernel.blocks, kernel.threads, arguments);
  }

private:
  const CudaContext &gpu;
  LoadContext context;
  const program::KernelT &kernel;
  CUfunction function;
  std::vector<void *> pointers;
  std::vector<int64_t> scalars;
  /// Addresses of the parameters: the elements of `pointers`, then of
  /// `scalars`.
  std::vector<void *> arguments;
};
} // namespace

namespace {
/// One launch of a kernel over many tensors, such as the optimizer update of
/// all weights (like multi-tensor apply in NVIDIA's Apex). Each block computes
/// one tile of one part, for example of one weight and its moments. The
/// parameters are a TensorTable with the addresses and sizes of all tensors,
/// then the addresses of the buffers that all tensors share.
class MultiTensorOperation : public Operation {
public:
  MultiTensorOperation(const CudaContext &gpu, const LoadContext &context,
                       const program::KernelT &kernel, CUfunction function)
      : gpu(gpu), context(context), kernel(kernel), function(function),
        shared(size_t(kernel.shared)),
        table(TensorTable::largest(
            int64_t((kernel.buffers.size() - shared.size()) /
                    kernel.parts.size()),
            kernel.shared)),
        words(size_t(table.words())) {
    arguments.push_back(words.data());
    for (void *&pointer : shared)
      arguments.push_back(&pointer);
    fillSizes();
  }

  Status run(const RunContext &run) override {
    if (kernel.blocks == 0)
      return Status::success();
    for (size_t i = 0; i < shared.size(); ++i)
      shared[i] = context.buffers.at(kernel.buffers[i], run.microbatch);
    const auto parts = int64_t(kernel.parts.size());
    for (int64_t tensor = 0; tensor < table.tensors; ++tensor)
      for (int64_t part = 0; part < parts; ++part) {
        const size_t buffer = shared.size() + size_t(tensor * parts + part);
        words[size_t(table.addressAt(part, tensor))] = int64_t(addressOf(
            context.buffers.at(kernel.buffers[buffer], run.microbatch)));
      }
    return gpu.launch(function, kernel.blocks, kernel.threads, arguments);
  }

private:
  /// Fills the part of the table that is the same in every run: the first tile
  /// and the number of elements of each part. Slots without a part get the
  /// largest number, so that the kernel's binary search never selects them.
  void fillSizes() {
    for (int64_t part = 0; part < table.slots(); ++part)
      words[size_t(TensorTable::firstAt(part))] =
          std::numeric_limits<int64_t>::max();
    int64_t tiles = 0;
    for (size_t part = 0; part < kernel.parts.size(); ++part) {
      words[size_t(TensorTable::firstAt(int64_t(part)))] = tiles;
      words[size_t(table.elementsAt(int64_t(part)))] = kernel.parts[part];
      tiles += (kernel.parts[part] + kernel.tile - 1) / kernel.tile;
    }
  }

  const CudaContext &gpu;
  LoadContext context;
  const program::KernelT &kernel;
  CUfunction function;
  /// Addresses of the shared buffers in the current run.
  std::vector<void *> shared;
  TensorTable table;
  /// The table: `table` describes the position of each entry.
  std::vector<int64_t> words;
  /// Addresses of the parameters: `words`, then the elements of `shared`.
  std::vector<void *> arguments;
};
} // namespace

Status prepareKernel(CudaResources &resources, const LoadContext &context,
                     const program::InstructionT &instruction,
                     std::unique_ptr<Operation> &operation) {
  const program::KernelT &kernel = *instruction.body.AsKernel();
  if (kernel.attention)
    operation = prepareAttention(resources, context, *kernel.attention);
  if (operation)
    return Status::success();
  CUfunction function = nullptr;
  PCC_RETURN_IF_ERROR(
      resources.findKernel(context.image, kernel.kernel, function));
  if (kernel.parts.empty())
    operation = std::make_unique<LaunchOperation>(resources.context(), context,
                                                  kernel, function);
  else
    operation = std::make_unique<MultiTensorOperation>(
        resources.context(), context, kernel, function);
  return Status::success();
}

} // namespace pcc::runtime
