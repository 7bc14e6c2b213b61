//===- CudnnLibrary.h - the functions of cuDNN ----------------------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDNNLIBRARY_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDNNLIBRARY_H

#include "runtime/base/Status.h"

#include <cudnn_graph.h>

namespace pcc::runtime {

/// Calls `X` with each function that pcc calls.
#define PCC_DNN_FUNCTIONS(X)                                                   \
  X(cudnnGetVersion)                                                           \
  X(cudnnGetErrorString)                                                       \
  X(cudnnCreate)                                                               \
  X(cudnnDestroy)                                                              \
  X(cudnnSetStream)                                                            \
  X(cudnnBackendCreateDescriptor)                                              \
  X(cudnnBackendDestroyDescriptor)                                             \
  X(cudnnBackendSetAttribute)                                                  \
  X(cudnnBackendGetAttribute)                                                  \
  X(cudnnBackendFinalize)                                                      \
  X(cudnnBackendExecute)

/// Their addresses, under their names.
struct CudnnLibrary {
#define PCC_DECLARE(function) decltype(&::function) function = nullptr;
  PCC_DNN_FUNCTIONS(PCC_DECLARE)
#undef PCC_DECLARE

  /// Success, or an error that says which call failed and why.
  Status check(cudnnStatus_t result, const char *call) const;
};

/// Opens cuDNN, whose calls are watched (WatchedCalls.h); exit code 13 if it is
/// not there or of another major version.
Status openCudnnLibrary(CudnnLibrary &library);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDNNLIBRARY_H
