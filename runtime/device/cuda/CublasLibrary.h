//===- CublasLibrary.h - functions of cuBLASLt, opened at run time --------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUBLASLIBRARY_H
#define PCC_RUNTIME_DEVICE_CUDA_CUBLASLIBRARY_H

#include "runtime/base/Status.h"

#include <cublasLt.h>

namespace pcc::runtime {

/// Expands X(name) for each function of cuBLASLt that pcc calls.
#define PCC_BLAS_FUNCTIONS(X)                                                  \
  X(cublasLtCreate)                                                            \
  X(cublasLtDestroy)                                                           \
  X(cublasLtGetVersion)                                                        \
  X(cublasLtGetStatusName)                                                     \
  X(cublasLtMatmulDescCreate)                                                  \
  X(cublasLtMatmulDescDestroy)                                                 \
  X(cublasLtMatmulDescSetAttribute)                                            \
  X(cublasLtMatrixLayoutCreate)                                                \
  X(cublasLtMatrixLayoutDestroy)                                               \
  X(cublasLtMatrixLayoutSetAttribute)                                          \
  X(cublasLtMatmulPreferenceCreate)                                            \
  X(cublasLtMatmulPreferenceDestroy)                                           \
  X(cublasLtMatmulPreferenceSetAttribute)                                      \
  X(cublasLtMatmulAlgoGetHeuristic)                                            \
  X(cublasLtMatmulAlgoCheck)                                                   \
  X(cublasLtMatmul)

/// Function pointers of cuBLASLt. Each member has the name of its function. All
/// are null before openCublasLibrary().
struct CublasLibrary {
#define PCC_DECLARE(function) decltype(&::function) function = nullptr;
  PCC_BLAS_FUNCTIONS(PCC_DECLARE)
#undef PCC_DECLARE

  /// Turns the result of a cuBLASLt function into a Status; `call` is the name
  /// of the function. Exit code 13 (NoDevice) if the library cannot use the GPU
  /// or has no memory, exit code 1 for any other error.
  Status check(cublasStatus_t result, const char *call) const;
};

/// Opens cuBLASLt and wraps its functions with watchCalls(), so that a call
/// that does not return is detected. Exit code 13 if the library is absent or
/// of another major version than the headers that pcc is compiled with.
Status openCublasLibrary(CublasLibrary &library);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUBLASLIBRARY_H
