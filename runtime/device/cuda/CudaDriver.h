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

  /// Converts `result` to a Status. `call` is the name of the driver function
  /// that returned `result`. A Status is either a success, or an error with an
  /// exit code for the process:
  ///
  /// - CUDA_SUCCESS becomes a success.
  /// - An error of the machine becomes an error with exit code 13 (NoDevice).
  ///   For example, the GPU has too little free memory, the GPU is not
  ///   available, or a module contains no machine code for this GPU.
  /// - Any other error of the driver becomes an error with exit code 1
  ///   (Defect).
  Status check(CUresult result, const char *call) const;
};

/// Opens the driver library, and sets each member of `driver` to the address of
/// a wrapper of one driver function. watchCalls() creates the wrapper. The
/// wrapper calls the driver function, and counts the calls that begin and the
/// calls that end. Another thread can compare the two counts to detect a call
/// that does not return.
///
/// The function returns an error with exit code 13 (NoDevice) in each of these
/// cases:
///
/// - The driver library cannot be opened.
/// - The driver library lacks a function that pcc calls.
/// - The driver is too old. For example, if pcc was compiled with CUDA 13.1,
///   the driver must support CUDA 13.0 or later.
/// - The driver cannot be initialized, or finds no GPU.
Status openCudaDriver(CudaDriver &driver);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDADRIVER_H
