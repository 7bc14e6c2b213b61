//===- CublasLibrary.h - functions of cuBLASLt, opened at run time --------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUBLASLIBRARY_H
#define PCC_RUNTIME_DEVICE_CUDA_CUBLASLIBRARY_H

#include "status/Status.h"

#include <cublasLt.h>

namespace pcc::runtime {

/// Expands to X(name) for each function of cuBLASLt that pcc calls.
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

/// Pointers to the functions of cuBLASLt. Each member has the name of the
/// function to which it points. All members are null before
/// openCublasLibrary().
struct CublasLibrary {
// Declares one member. For example, PCC_DECLARE(cublasLtMatmul) declares a
// pointer with the name `cublasLtMatmul` and the type of a pointer to the
// function cublasLtMatmul(). clang-tidy wants parentheses around the name of
// the member. The name needs no parentheses, because the name is not part of an
// expression.
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define PCC_DECLARE(function) decltype(&::function) function = nullptr;
  PCC_BLAS_FUNCTIONS(PCC_DECLARE)
#undef PCC_DECLARE

  /// Converts `result`, which the cuBLASLt function `call` returned, to a
  /// Status. Exit code 13 (NoDevice) if the library cannot use the GPU or has
  /// no memory. Exit code 1 (Defect) for any other error.
  Status check(cublasStatus_t result, const char *call) const;
};

/// Opens cuBLASLt and sets the pointers of `library`. Wraps each function with
/// watchCalls(), which detects calls that do not return. Exit code 13
/// (NoDevice) if the library is absent, or if pcc was compiled for another
/// major version.
Status openCublasLibrary(CublasLibrary &library);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUBLASLIBRARY_H
