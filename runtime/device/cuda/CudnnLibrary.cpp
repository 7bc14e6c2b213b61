//===- CudnnLibrary.cpp - functions of cuDNN, opened at run time ----------===//

#include "runtime/device/cuda/CudnnLibrary.h"
#include "runtime/base/SharedLibrary.h"
#include "runtime/base/WatchedCalls.h"

namespace pcc::runtime {

/// Returns the file name of the cuDNN library. The name ends with the major
/// version of the cuDNN headers with which pcc was compiled. For example, it is
/// libcudnn.so.9 for version 9.
static std::string soname() {
  return "libcudnn.so." + std::to_string(CUDNN_MAJOR);
}

/// Sets the pointers in `library` to the functions of the shared library
/// `symbols`.
static void fillTable(SharedLibrary &symbols, CudnnLibrary &library) {
#define PCC_FIND(function) symbols.find(#function, library.function);
  PCC_DNN_FUNCTIONS(PCC_FIND)
#undef PCC_FIND
}

/// Replaces each function pointer in `library` by a pointer to a wrapper. The
/// wrapper increments a counter of begun calls, calls the function of cuDNN,
/// and then increments a counter of ended calls. Another thread compares the
/// two counters. If they differ for too long, a call of cuDNN hangs.
static void watchTable(CudnnLibrary &library) {
#define PCC_WATCH(function) watchCalls<&CudnnLibrary::function>(library);
  PCC_DNN_FUNCTIONS(PCC_WATCH)
#undef PCC_WATCH
}

Status openCudnnLibrary(CudnnLibrary &library) {
  SharedLibrary symbols(soname(), cudaFolders());
  if (!symbols.isOpen())
    return Status::error(NoDevice, symbols.error());
  fillTable(symbols, library);
  if (const char *absent = symbols.firstAbsent())
    return Status::error(NoDevice, soname() + " has no symbol " + absent);
  watchTable(library);
  const size_t version = library.cudnnGetVersion();
  if (version / 10000 != CUDNN_MAJOR)
    return Status::error(NoDevice, soname() + " is of version " +
                                       std::to_string(version / 10000) +
                                       ", not " + std::to_string(CUDNN_MAJOR));
  return Status::success();
}

Status CudnnLibrary::check(cudnnStatus_t result, const char *call) const {
  if (result == CUDNN_STATUS_SUCCESS)
    return Status::success();
  return Status::error(Defect, std::string(call) +
                                   " failed: " + cudnnGetErrorString(result));
}

} // namespace pcc::runtime
