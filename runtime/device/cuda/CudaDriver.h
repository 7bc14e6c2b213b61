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

/// List of the functions of the CUDA driver that pcc calls. `X` is a macro with
/// one parameter. The list expands to X(cuInit) X(cuDriverGetVersion) and so
/// on, with one X(name) for each function.
///
/// Some of the names are macros of cuda.h. For example, the macro cuMemAlloc
/// expands to cuMemAlloc_v2, which is the name of a function in the driver
/// library. If X applies the operator # to its parameter, the result is
/// "cuMemAlloc". If X needs the string "cuMemAlloc_v2", X must pass its
/// parameter to a second macro, and the second macro must apply the operator #.
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
// Declares one member of the struct CudaDriver. For example,
// PCC_DECLARE(cuInit) declares a pointer with the name `cuInit`. The pointer
// can hold the address of the function cuInit().
//
// A check of clang-tidy asks for parentheses around the parameter `function` in
// the text of the macro. The next line turns this check off, because `function`
// is the name of a member here. A name in a declaration needs no parentheses.
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

/// Opens the driver library, and sets each member of `driver` to a function
/// that calls the driver and counts begun and ended calls. Another thread can
/// compare the counts to detect a call that does not return.
///
/// Returns an error with exit code 13 (NoDevice) if the library cannot be
/// opened or lacks a function, if there is no GPU, or if the driver cannot be
/// initialized. Returns the same error if the driver supports only older major
/// versions of CUDA than the one with which pcc was compiled.
Status openCudaDriver(CudaDriver &driver);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDADRIVER_H
