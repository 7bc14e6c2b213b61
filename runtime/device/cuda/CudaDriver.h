//===- CudaDriver.h - functions of the CUDA driver, opened at run time ----===//
//
// The driver library (libcuda) is opened when a program for CUDA starts; no
// executable is linked with it. Only this folder and comm/nccl include cuda.h.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDADRIVER_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDADRIVER_H

#include "status/Status.h"

#include <cuda.h>

namespace pcc::runtime {

/// Expands to X(name) for each function of the CUDA driver that pcc calls:
/// X(cuInit), then X(cuDriverGetVersion) and so on. Some of the names are
/// macros of cuda.h. For example, cuMemAlloc is a macro that expands to
/// cuMemAlloc_v2. The driver library contains a function cuMemAlloc_v2, which
/// is the function that pcc calls. A macro X that converts `name` to a string
/// must therefore expand `name` first, so that the string is "cuMemAlloc_v2".
#define PCC_CUDA_DRIVER_FUNCTIONS(X)                                           \
  X(cuInit)                                                                    \
  X(cuDriverGetVersion)                                                        \
  X(cuGetErrorName)                                                            \
  X(cuGetErrorString)                                                          \
  X(cuDeviceGetCount)                                                          \
  X(cuDeviceGet)                                                               \
  X(cuDeviceGetAttribute)                                                      \
  X(cuDeviceGetName)                                                           \
  X(cuDeviceGetPCIBusId)                                                       \
  X(cuDevicePrimaryCtxRetain)                                                  \
  X(cuDevicePrimaryCtxRelease)                                                 \
  X(cuCtxSetCurrent)                                                           \
  X(cuMemAlloc)                                                                \
  X(cuMemFree)                                                                 \
  X(cuMemHostAlloc)                                                            \
  X(cuMemFreeHost)                                                             \
  X(cuMemcpyHtoDAsync)                                                         \
  X(cuMemcpyDtoHAsync)                                                         \
  X(cuMemcpyDtoDAsync)                                                         \
  X(cuMemcpy2DAsync)                                                           \
  X(cuMemsetD8Async)                                                           \
  X(cuMemsetD16Async)                                                          \
  X(cuMemsetD32Async)                                                          \
  X(cuMemsetD2D32Async)                                                        \
  X(cuStreamCreate)                                                            \
  X(cuStreamDestroy)                                                           \
  X(cuStreamQuery)                                                             \
  X(cuStreamWaitEvent)                                                         \
  X(cuEventCreate)                                                             \
  X(cuEventDestroy)                                                            \
  X(cuEventRecord)                                                             \
  X(cuStreamWriteValue32)                                                      \
  X(cuStreamBeginCapture)                                                      \
  X(cuStreamEndCapture)                                                        \
  X(cuGraphInstantiateWithFlags)                                               \
  X(cuGraphDestroy)                                                            \
  X(cuGraphExecDestroy)                                                        \
  X(cuGraphLaunch)                                                             \
  X(cuModuleLoadDataEx)                                                        \
  X(cuModuleGetFunction)                                                       \
  X(cuFuncLoad)                                                                \
  X(cuLaunchKernel)

/// Pointers to the functions of the CUDA driver. Each member has the name of
/// the function to which it points. All members are null before
/// openCudaDriver().
struct CudaDriver {
// Declares one member. For example, PCC_DECLARE(cuInit) declares a pointer with
// the name `cuInit` and the type of a pointer to the function cuInit().
// clang-tidy wants parentheses around the name of the member. The name needs no
// parentheses, because the name is not part of an expression.
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define PCC_DECLARE(function) decltype(&::function) function = nullptr;
  PCC_CUDA_DRIVER_FUNCTIONS(PCC_DECLARE)
#undef PCC_DECLARE

  /// Converts `result`, which the driver function `call` returned, to a Status.
  /// Exit code 13 (NoDevice) if the GPU or its memory is unavailable or the GPU
  /// cannot execute the code. Exit code 1 (Defect) for any other error.
  Status check(CUresult result, const char *call) const;
};

/// Opens the driver and sets the pointers of `driver`. Each function is wrapped
/// with watchCalls(), which detects calls that do not return. Exit code 13
/// (NoDevice) if the driver is absent or too old, or finds no GPU.
Status openCudaDriver(CudaDriver &driver);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDADRIVER_H
