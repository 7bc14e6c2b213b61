//===- CudaDriver.h - the functions of libcuda ----------------------------===//
//
// The driver is opened when a program for CUDA starts, and nothing is linked to
// it. Outside of this folder and comm/nccl nobody sees cuda.h.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDADRIVER_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDADRIVER_H

#include "runtime/base/Status.h"

#include <cuda.h>

namespace pcc::runtime {

/// Calls `X` with each function that pcc calls; cuda.h says which version of it
/// its name means.
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

/// Their addresses, under their names.
struct CudaDriver {
#define PCC_DECLARE(function) decltype(&::function) function = nullptr;
  PCC_CUDA_DRIVER_FUNCTIONS(PCC_DECLARE)
#undef PCC_DECLARE

  /// Success, or an error that says which call failed and why: exit code 13
  /// where memory is short or the device is gone, else 1.
  Status check(CUresult result, const char *call) const;
};

/// Opens the driver, whose calls are watched (WatchedCalls.h); exit code 13 if
/// it is not there or too old.
Status openCudaDriver(CudaDriver &driver);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDADRIVER_H
