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
// Declares one member of the struct CublasLibrary. For example,
// PCC_DECLARE(cublasLtMatmul) declares a pointer with the name
// `cublasLtMatmul`. The pointer can hold the address of the function
// cublasLtMatmul().
//
// A check of clang-tidy asks for parentheses around the parameter `function` in
// the text of the macro. The next line turns this check off, because `function`
// is the name of a member here. A name in a declaration needs no parentheses.
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define PCC_DECLARE(function) decltype(&::function) function = nullptr;
  PCC_BLAS_FUNCTIONS(PCC_DECLARE)
#undef PCC_DECLARE

  /// Converts `result` to a Status. `call` is the name of the cuBLASLt function
  /// that returned `result`. A Status is either a success, or an error with an
  /// exit code for the process:
  ///
  /// - CUBLAS_STATUS_SUCCESS becomes a success.
  /// - An error of the machine becomes an error with exit code 13 (NoDevice).
  ///   There are three errors of the machine: cuBLASLt is not initialized,
  ///   cuBLASLt cannot allocate memory, or cuBLASLt does not support the
  ///   architecture of the GPU.
  /// - Any other error of cuBLASLt becomes an error with exit code 1 (Defect).
  Status check(cublasStatus_t result, const char *call) const;
};

/// Opens the cuBLASLt library, and sets each member of `library` to a function
/// that calls cuBLASLt and counts begun and ended calls. Another thread can
/// compare the counts to detect a call that does not return.
///
/// Returns an error with exit code 13 (NoDevice) if the library cannot be
/// opened, if the library lacks a function that pcc calls, or if its major
/// version is not that of the headers with which pcc was compiled.
Status openCublasLibrary(CublasLibrary &library);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUBLASLIBRARY_H
