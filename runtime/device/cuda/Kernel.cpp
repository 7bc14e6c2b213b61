//===- Kernel.cpp - launches of kernels that pcc has compiled -------------===//

#include "runtime/device/cuda/CudaResources.h"
#include "runtime/program/TensorTable.h"

#include <limits>

namespace pcc::runtime {

namespace {
/// Launches one kernel in each call of run(). The kernel has the following
/// parameters, in this order:
///
/// - the address of each tensor that the kernel reads or writes
/// - integers of 64 bits, such as the index of the first row that this rank
///   computes
///
/// The member `arguments` has one entry for each parameter. The constructor
/// allocates the entries. run() changes only the values of the parameters,
/// because the values may depend on the microbatch.
class LaunchOperation : public Operation {
public:
  LaunchOperation(const CudaContext &gpu, const LoadContext &context,
                  const program::KernelT &kernel, CUfunction function)
      : gpu(gpu), context(context), kernel(kernel), function(function),
        pointers(kernel.buffers.size()), scalars(kernel.scalars.size()) {
    for (void *&pointer : pointers)
      arguments.push_back(static_cast<void *>(&pointer));
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
  /// Pointers to the values of the kernel's parameters, in the order of the
  /// parameters. The values are first the elements of `pointers`, which are
  /// addresses of buffers, then the elements of `scalars`. cuLaunchKernel()
  /// takes this list as its argument `kernelParams`.
  std::vector<void *> arguments;
};
} // namespace

namespace {
/// Launches one kernel that updates many tensors, like multi-tensor apply in
/// NVIDIA's Apex. A part is a group of tensors of equal size that the kernel
/// updates together, such as a weight and its moments. All tensors of a part
/// are cut into tiles. A tile is a range of indices, such as 0 to 1023. Each
/// thread block updates one tile of one part. The kernel has the following
/// parameters, in this order:
///
/// - a table with the size and the address of each tensor in each part (see
///   TensorTable)
/// - the addresses of tensors that the kernel needs for all parts, such as the
///   learning rate
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
      arguments.push_back(static_cast<void *>(&pointer));
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
  /// Fills the entries of `words` that are equal in every run: for each part
  /// (tensors of equal size that the kernel updates together), the number of
  /// the first tile and the number of elements of each tensor. A tile has
  /// `kernel.tile` elements. For example, three parts with 2, 4 and 1 tiles
  /// have the first tiles 0, 2 and 6.
  ///
  /// A binary search finds the part of a tile. Unused entries must therefore
  /// have the largest integer as their first tile.
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
  /// Addresses of the buffers that every block of the kernel reads, such as the
  /// buffer of the learning rate. run() sets these addresses before it launches
  /// the kernel.
  std::vector<void *> shared;
  TensorTable table;
  /// Table that the kernel receives as its first parameter. The kernel updates
  /// many groups of tensors. A group is called a part. For example, a part
  /// consists of a weight and its moments. All tensors of a part have the same
  /// size. A tile is a range of elements that one thread block updates. For
  /// each part, the table has these integers of 64 bits:
  ///
  /// - the number of the part's first tile
  /// - the number of elements of each tensor in the part
  /// - the address of each tensor in the part
  ///
  /// The member `table` computes the index of an entry in `words`. For example,
  /// the address of tensor 1 of part 3 has the index table.addressAt(3, 1).
  std::vector<int64_t> words;
  /// Pointers to the values of the kernel's parameters, in the order of the
  /// parameters. The first value is the table `words`, which contains the
  /// addresses and sizes of tensors. The other values are the elements of
  /// `shared`, which are addresses of buffers. cuLaunchKernel() takes this list
  /// as its argument `kernelParams`.
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
