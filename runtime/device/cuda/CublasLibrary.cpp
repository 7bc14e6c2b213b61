//===- CublasLibrary.cpp - functions of cuBLASLt, opened at run time ------===//

#include "runtime/device/cuda/CublasLibrary.h"
#include "runtime/base/SharedLibrary.h"
#include "runtime/base/WatchedCalls.h"

namespace pcc::runtime {

/// Returns the file name of cuBLASLt, such as "libcublasLt.so.13". The number
/// is the major version of the cuBLASLt headers with which pcc was compiled.
static std::string soname() {
  return "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
}

/// Sets the pointers in `library` to the functions of the shared library
/// `symbols`.
static void fillTable(SharedLibrary &symbols, CublasLibrary &library) {
#define PCC_FIND(function) symbols.find(#function, library.function);
  PCC_BLAS_FUNCTIONS(PCC_FIND)
#undef PCC_FIND
}

/// Replaces each function pointer in `library` by a pointer to a wrapper. The
/// wrapper increments a counter of begun calls, calls the function of cuBLASLt,
/// and then increments a counter of ended calls. Another thread compares the
/// two counters. If they differ for too long, a call of cuBLASLt hangs.
static void watchTable(CublasLibrary &library) {
#define PCC_WATCH(function) watchCalls<&CublasLibrary::function>(library);
  PCC_BLAS_FUNCTIONS(PCC_WATCH)
#undef PCC_WATCH
}

Status openCublasLibrary(CublasLibrary &library) {
  SharedLibrary symbols(soname(), cudaFolders());
  if (!symbols.isOpen())
    return Status::error(NoDevice, symbols.error(),
                         {"name its folder in PCC_CUDA_LIBRARIES"});
  fillTable(symbols, library);
  if (const char *absent = symbols.firstAbsent())
    return Status::error(NoDevice, soname() + " has no symbol " + absent);
  watchTable(library);
  const size_t version = library.cublasLtGetVersion();
  if (version / 10000 != CUBLAS_VER_MAJOR)
    return Status::error(NoDevice, soname() + " is of version " +
                                       std::to_string(version / 10000) +
                                       ", not " +
                                       std::to_string(CUBLAS_VER_MAJOR));
  return Status::success();
}

Status CublasLibrary::check(cublasStatus_t result, const char *call) const {
  if (result == CUBLAS_STATUS_SUCCESS)
    return Status::success();
  const bool isMachines = result == CUBLAS_STATUS_NOT_INITIALIZED ||
                          result == CUBLAS_STATUS_ALLOC_FAILED ||
                          result == CUBLAS_STATUS_ARCH_MISMATCH;
  return Status::error(isMachines ? NoDevice : Defect,
                       std::string(call) +
                           " failed: " + cublasLtGetStatusName(result));
}

} // namespace pcc::runtime
