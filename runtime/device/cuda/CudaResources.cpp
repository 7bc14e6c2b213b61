//===- CudaResources.cpp - what the operations of one rank share ----------===//

#include "runtime/device/cuda/CudaResources.h"

#include <array>
#include <cstring>
#include <utility>

namespace pcc::runtime {

/// Code that may still run ends with its context.
CudaResources::~CudaResources() {
  if (handle)
    library.cublasLtDestroy(handle);
}

/// "sm_90" is 90.
static int capabilityOf(const char *arch) {
  return std::atoi(arch + std::strlen("sm_"));
}

/// A cubin runs on GPUs of its own major version from its minor one on; PTX on
/// all that are not older, where the driver assembles it.
Status CudaResources::loadCode(const ProgramImage &image) {
  const PccGpuCode &given = *image.gpu;
  const int wanted = capabilityOf(given.arch), have = gpu.capability();
  if (have < wanted)
    return Status::error(
        NoDevice,
        "the bundle is compiled for " + std::string(given.arch) + ", but " +
            gpu.description() + " is older",
        {"compile the model with --gpu-arch sm_" + std::to_string(have)});
  const bool isAssembled = given.cubinBytes > 0 && have / 10 == wanted / 10;
  std::array<char, 4096> log = {};
  std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER,
                                         CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void *, 2> values = {log.data(),
                                  reinterpret_cast<void *>(log.size())};
  Status status =
      gpu.check(gpu.driver().cuModuleLoadDataEx(
                    &code, isAssembled ? given.cubin : given.ptx,
                    unsigned(options.size()), options.data(), values.data()),
                "cuModuleLoadDataEx");
  if (status.failed() && log[0])
    status.addNote(log.data());
  return status;
}

Status CudaResources::findKernel(const ProgramImage &image, int32_t kernel,
                                 CUfunction &function) {
  if (!image.gpu)
    return Status::error(DamagedBundle, "the program has no kernels");
  if (!code)
    if (Status status = loadCode(image); status.failed())
      return status;
  const std::string name =
      "pcc_k_" + std::to_string(image.gpu->numbers[kernel]);
  if (Status status = gpu.check(
          gpu.driver().cuModuleGetFunction(&function, code, name.c_str()),
          "cuModuleGetFunction");
      status.failed())
    return status;
  // Now, not at its first launch: see Operation::warmUp().
  return gpu.check(gpu.driver().cuFuncLoad(function), "cuFuncLoad");
}

Status CudaResources::useCublas() {
  if (handle)
    return Status::success();
  if (Status status = openCublasLibrary(library); status.failed())
    return status;
  if (Status status =
          library.check(library.cublasLtCreate(&handle), "cublasLtCreate");
      status.failed())
    return status;
  algorithmCache.open(bundle, "cublaslt " +
                                  std::to_string(library.cublasLtGetVersion()) +
                                  " " + gpu.name());
  return gpu.allocate(workspaceBytes(), workspaceData);
}

CudnnAttention &CudaResources::useCudnn() {
  if (!std::exchange(isCudnnAsked, true))
    dnn.open(gpu.stream());
  return dnn;
}

Status CudaResources::allocateScratch() {
  return scratchBytes > 0 ? gpu.allocate(size_t(scratchBytes), scratchData)
                          : Status::success();
}

} // namespace pcc::runtime
