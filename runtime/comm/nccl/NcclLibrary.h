//===- NcclLibrary.h - function table of NCCL, loaded at run time ---------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLLIBRARY_H
#define PCC_RUNTIME_COMM_NCCL_NCCLLIBRARY_H

#include "status/Status.h"

#include <nccl.h>

namespace pcc::runtime {

/// Expands `X(function)` for every NCCL function that pcc calls.
#define PCC_NCCL_FUNCTIONS(X)                                                  \
  X(ncclGetVersion)                                                            \
  X(ncclGetUniqueId)                                                           \
  X(ncclCommInitRankConfig)                                                    \
  X(ncclCommSplit)                                                             \
  X(ncclCommFinalize)                                                          \
  X(ncclCommDestroy)                                                           \
  X(ncclCommAbort)                                                             \
  X(ncclCommGetAsyncError)                                                     \
  X(ncclGetErrorString)                                                        \
  X(ncclGroupStart)                                                            \
  X(ncclGroupEnd)                                                              \
  X(ncclAllReduce)                                                             \
  X(ncclReduceScatter)                                                         \
  X(ncclAllGather)                                                             \
  X(ncclBroadcast)                                                             \
  X(ncclSend)                                                                  \
  X(ncclRecv)

/// Returns whether NCCL has accepted a call: it is complete or in progress.
constexpr bool isBegun(ncclResult_t result) {
  return result == ncclSuccess || result == ncclInProgress;
}

/// Addresses of the NCCL functions that pcc calls, one member per function.
struct NcclLibrary {
// clang-tidy asks for parentheses around the argument of a macro. Here they
// would be wrong, because the argument is the name of a data member.
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define PCC_DECLARE(function) decltype(&::function) function = nullptr;
  PCC_NCCL_FUNCTIONS(PCC_DECLARE)
#undef PCC_DECLARE

  /// Converts `result`, the result of an NCCL call, to a Status. `call` is the
  /// name of the NCCL call for the error message, such as "ncclSend". The
  /// message also contains NCCL's description of the error.
  ///
  /// - ncclSuccess or ncclInProgress: returns success.
  /// - ncclRemoteError, ncclSystemError or ncclUnhandledCudaError: returns an
  ///   error with exit code 14.
  /// - Any other result: returns an error with exit code 1.
  Status check(ncclResult_t result, const char *call) const;
};

/// Opens the shared library libnccl.so.2. Sets each member of `library`, such
/// as ncclSend, to a wrapper. The wrapper calls the NCCL function, and counts
/// its calls. By these counts, another thread detects an NCCL call that hangs
/// (WatchedCalls.h). Returns an error with exit code 13 if NCCL is absent or
/// older than 2.27.
Status openNcclLibrary(NcclLibrary &library);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLLIBRARY_H
