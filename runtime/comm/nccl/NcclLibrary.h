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
// The argument is the name that is declared.
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define PCC_DECLARE(function) decltype(&::function) function = nullptr;
  PCC_NCCL_FUNCTIONS(PCC_DECLARE)
#undef PCC_DECLARE

  /// Returns success if isBegun(`result`). Otherwise returns an error that
  /// names the call and NCCL's reason: exit code 14 for a remote, system or
  /// CUDA error, exit code 1 for any other error.
  Status check(ncclResult_t result, const char *call) const;
};

/// Opens libnccl.so.2, and fills `library` with functions that count their
/// calls, so that a watchdog detects a call that hangs (WatchedCalls.h). Exit
/// code 13 if NCCL is absent or older than 2.27.
Status openNcclLibrary(NcclLibrary &library);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLLIBRARY_H
