//===- NcclLibrary.h - the functions of NCCL ------------------------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLLIBRARY_H
#define PCC_RUNTIME_COMM_NCCL_NCCLLIBRARY_H

#include "runtime/base/Status.h"

#include <nccl.h>

namespace pcc::runtime {

/// Calls `X` with each function that pcc calls.
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

/// Whether a call is under way, if not done.
constexpr bool isBegun(ncclResult_t result) {
  return result == ncclSuccess || result == ncclInProgress;
}

/// Their addresses, under their names.
struct NcclLibrary {
#define PCC_DECLARE(function) decltype(&::function) function = nullptr;
  PCC_NCCL_FUNCTIONS(PCC_DECLARE)
#undef PCC_DECLARE

  /// Success, or an error that says which call failed and why: exit code 14
  /// where a peer or the network is to blame, else 1. What isBegun() is
  /// success.
  Status check(ncclResult_t result, const char *call) const;
};

/// Opens NCCL, whose calls are watched (WatchedCalls.h); exit code 13 if it is
/// not there or too old.
Status openNcclLibrary(NcclLibrary &library);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLLIBRARY_H
