//===- CudnnLibrary.h - functions of cuDNN, opened at run time ------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDNNLIBRARY_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDNNLIBRARY_H

#include "status/Status.h"

#include <cudnn_graph.h>

namespace pcc::runtime {

/// Expands to X(name) for each function of cuDNN that pcc calls.
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

/// Pointers to the functions of cuDNN. Each member has the name of the function
/// to which it points. All members are null before openCudnnLibrary().
struct CudnnLibrary {
// Declares one member of the struct CudnnLibrary. For example,
// PCC_DECLARE(cudnnCreate) declares a pointer with the name `cudnnCreate`. The
// pointer can hold the address of the function cudnnCreate().
//
// A check of clang-tidy asks for parentheses around the parameter `function` in
// the text of the macro. The next line turns this check off, because `function`
// is the name of a member here. A name in a declaration needs no parentheses.
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define PCC_DECLARE(function) decltype(&::function) function = nullptr;
  PCC_DNN_FUNCTIONS(PCC_DECLARE)
#undef PCC_DECLARE

  /// Converts `result` to a Status. `result` is the value that a function of
  /// cuDNN returned, and `call` is the name of the function. If `result` is not
  /// CUDNN_STATUS_SUCCESS, the Status is an error with exit code 1 (Defect).
  Status check(cudnnStatus_t result, const char *call) const;
};

/// Opens the cuDNN library, and sets each member of `library` to a function
/// that calls cuDNN and counts begun and ended calls. Another thread can
/// compare the counts to detect a call that does not return.
///
/// Returns an error with exit code 13 (NoDevice) if the library cannot be
/// opened, if the library lacks a function that pcc calls, or if its major
/// version is not that of the headers with which pcc was compiled.
Status openCudnnLibrary(CudnnLibrary &library);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDNNLIBRARY_H
