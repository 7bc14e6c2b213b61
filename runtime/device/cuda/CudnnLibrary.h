//===- CudnnLibrary.h - functions of cuDNN, opened at run time ------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDNNLIBRARY_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDNNLIBRARY_H

#include "runtime/base/Status.h"

#include <cudnn_graph.h>

namespace pcc::runtime {

/// Expands X(name) for each function of cuDNN that pcc calls.
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

/// Function pointers of cuDNN. Each member has the name of its function. All
/// are null before openCudnnLibrary().
struct CudnnLibrary {
#define PCC_DECLARE(function) decltype(&::function) function = nullptr;
  PCC_DNN_FUNCTIONS(PCC_DECLARE)
#undef PCC_DECLARE

  /// Turns the result of a cuDNN function into a Status; `call` is the name of
  /// the function. Exit code 1 (Defect) for every error.
  Status check(cudnnStatus_t result, const char *call) const;
};

/// Opens cuDNN and wraps its functions with watchCalls(), so that a call that
/// does not return is detected. Exit code 13 if the library is absent or of
/// another major version than the headers that pcc is compiled with.
Status openCudnnLibrary(CudnnLibrary &library);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDNNLIBRARY_H
