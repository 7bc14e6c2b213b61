//===- HostKernels.cpp - the kernels of a GPU, as the host runs them ------===//

#include "test/runtime/fake/cuda/HostKernels.h"

#include <cstdlib>
#include <dlfcn.h>
#include <string_view>

using namespace pcc;
using namespace pcc::runtime;

namespace pcc::fake {

/// Returns the image of the rank to which `code` belongs: that of a loaded
/// file, or of this process.
static const ProgramImage *imageOf(const void *code) {
  Dl_info info = {};
  void *file = dladdr(code, &info)
                   ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                   : nullptr;
  const char *symbol = "pcc_program_image";
  const void *image = file ? dlsym(file, symbol) : dlsym(RTLD_DEFAULT, symbol);
  if (!image)
    image = dlsym(RTLD_DEFAULT, symbol);
  return static_cast<const ProgramImage *>(image);
}

static std::vector<HostKernel::Tensor>
tensorsOf(const program::ProgramT &program, const program::KernelT &kernel) {
  std::vector<HostKernel::Tensor> tensors;
  const size_t parts = kernel.parts.size(), count = kernel.buffers.size();
  for (auto i = size_t(kernel.shared); parts > 0 && i < count; i += parts) {
    const auto &buffer = *program.buffers[size_t(kernel.buffers[i])];
    tensors.push_back(
        {sizeOf(typeOf(buffer.type)), i >= count - size_t(kernel.num_results)});
  }
  return tensors;
}

/// Returns whether the GPU can run the code. A cubin runs on GPUs of its major
/// version that are not older, PTX on all that are not older.
static bool runsOn(const PccGpuCode &gpu, const void *code, int capability) {
  const int arch = std::stoi(gpu.arch + std::string_view("sm_").size());
  const bool isCubin = gpu.cubinBytes > 0 && code == gpu.cubin;
  return (isCubin || code == gpu.ptx) && arch <= capability &&
         (!isCubin || arch / 10 == capability / 10);
}

std::unique_ptr<HostKernelModule>
HostKernelModule::load(const void *code, int capability, std::string &error) {
  const ProgramImage *image = imageOf(code);
  if (!image || !image->gpu) {
    error = "the code is not a bundle's";
    return nullptr;
  }
  if (!runsOn(*image->gpu, code, capability)) {
    error = "the code is not for this GPU";
    return nullptr;
  }
  if (image->numVariants == 0) {
    error = "the bundle has no kernels for the host: compile it with --cpu";
    return nullptr;
  }
  auto made = std::make_unique<HostKernelModule>();
  const std::span<const std::byte> bytes(
      static_cast<const std::byte *>(image->program), image->programBytes);
  if (Status status = openProgram(bytes, made->opened); status.failed()) {
    error = status.message();
    return nullptr;
  }
  const program::ProgramT &program = *made->opened.tables;
  made->twins.resize(size_t(program.num_kernels));
  for (const auto &function : program.functions)
    for (const auto &instruction : function->instructions)
      if (const program::KernelT *kernel = instruction->body.AsKernel()) {
        const auto number = size_t(kernel->kernel);
        HostKernel &twin = made->twins[number];
        twin.name = "pcc_k_" + std::to_string(image->gpu->numbers[number]);
        twin.function = image->variants[0].kernels[number];
        twin.launch = kernel;
        twin.bytes.clear();
        for (int32_t buffer : kernel->buffers)
          twin.bytes.push_back(size_t(program.buffers[size_t(buffer)]->bytes));
        twin.tensors = tensorsOf(program, *kernel);
      }
  for (const auto &parameter : program.parameters)
    if (parameter->generator >= 0) {
      const auto number = size_t(parameter->generator);
      HostKernel &twin = made->twins[number];
      twin.name = "pcc_k_" + std::to_string(image->gpu->numbers[number]);
      twin.function = image->variants[0].kernels[number];
      twin.randomElement = sizeOf(typeOf(parameter->type));
    }
  return made;
}

const HostKernel *HostKernelModule::find(const std::string &name) const {
  for (const HostKernel &twin : twins)
    if (twin.name == name)
      return &twin;
  return nullptr;
}

} // namespace pcc::fake
