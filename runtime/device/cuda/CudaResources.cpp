//===- CudaResources.cpp - resources that a rank's GPU operations share ---===//

#include "runtime/device/cuda/CudaResources.h"

#include <array>
#include <cstring>
#include <utility>

namespace pcc::runtime {

/// Destroys the handle of cuBLASLt. Does not unload the compiled kernels,
/// because the GPU may still execute a kernel. CUDA unloads the kernels when
/// the CUDA context of the GPU is destroyed.
CudaResources::~CudaResources() {
  if (handle)
    library.cublasLtDestroy(handle);
}

/// Returns the compute capability times 10 of an architecture name: 90 for
/// "sm_90".
static int capabilityOf(const char *arch) {
  return int(std::strtol(arch + std::strlen("sm_"), nullptr, 10));
}

/// Loads all kernels in `image` onto the GPU. `image` has the kernels as PTX,
/// which the driver compiles, and perhaps as machine code (cubin) for one
/// compute capability. The function loads the machine code, if there is any and
/// the GPU has the same major compute capability. Otherwise the function loads
/// the PTX. Returns an error with exit code 13 (NoDevice) if the compute
/// capability of the GPU is lower than the one of the kernels.
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
    PCC_RETURN_IF_ERROR(loadCode(image));
  const std::string name =
      "pcc_k_" + std::to_string(image.gpu->numbers[kernel]);
  PCC_RETURN_IF_ERROR(
      gpu.check(gpu.driver().cuModuleGetFunction(&function, code, name.c_str()),
                "cuModuleGetFunction"));
  // Loads the kernel's code now. By default, CUDA loads the code of a kernel at
  // the first launch of the kernel. A load may wait until the GPU is idle.
  // During a step (one execution of the program), the GPU may be waiting for
  // another rank, and that rank may be waiting for this rank. A load during a
  // step could therefore deadlock.
  return gpu.check(gpu.driver().cuFuncLoad(function), "cuFuncLoad");
}

Status CudaResources::useCublas() {
  if (handle)
    return Status::success();
  PCC_RETURN_IF_ERROR(openCublasLibrary(library));
  PCC_RETURN_IF_ERROR(
      library.check(library.cublasLtCreate(&handle), "cublasLtCreate"));
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
