//===- CublasLibrary.h - the functions of cuBLASLt ------------------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUBLASLIBRARY_H
#define PCC_RUNTIME_DEVICE_CUDA_CUBLASLIBRARY_H

#include "runtime/base/Status.h"

#include <cublasLt.h>

namespace pcc::runtime {

/// Calls `X` with each function that pcc calls.
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

/// Their addresses, under their names.
struct CublasLibrary {
#define PCC_DECLARE(function) decltype(&::function) function = nullptr;
  PCC_BLAS_FUNCTIONS(PCC_DECLARE)
#undef PCC_DECLARE

  /// Success, or an error that says which call failed and why: exit code 13
  /// where the machine lacks something, else 1.
  Status check(cublasStatus_t result, const char *call) const;
};

/// Opens cuBLASLt, whose calls are watched (WatchedCalls.h); exit code 13 if it
/// is not there or of another CUDA.
Status openCublasLibrary(CublasLibrary &library);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUBLASLIBRARY_H
