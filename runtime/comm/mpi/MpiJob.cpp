//===- MpiJob.cpp - all calls of one process into MPI ---------------------===//

#include "runtime/comm/mpi/MpiJob.h"
#include "runtime/base/StatusLines.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace pcc::runtime {

/// Sets environment variables that tune Open MPI for ranks on one host. Keeps
/// variables that are already set.
static void setDefaults() {
  constexpr const char *settings[][2] = {
      {"OMPI_MCA_mpi_yield_when_idle", "1"},
      {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
      // MPI transfers data only inside MPI calls, and a waiting rank pauses
      // between these calls. Each call should therefore transfer much data.
      // Open MPI divides a large message into fragments. The parameter
      // send_pipeline_depth of Open MPI is the largest number of fragments of
      // one message that are transferred at the same time. The parameter
      // max_send_size is the largest size of a fragment in bytes.
      {"OMPI_MCA_pml_ob1_send_pipeline_depth", "64"},
      {"OMPI_MCA_btl_vader_max_send_size", "131072"},
      // Keeps hwloc from searching X displays for GPUs, which can take seconds.
      {"HWLOC_COMPONENTS", "-gl"},
  };
  for (const auto &[name, value] : settings)
    setenv(name, value, /*overwrite=*/0);
}

Status MpiJob::start() {
  PCC_RETURN_IF_ERROR(openMpiLibrary(mpi));
  setDefaults();
  int provided = 0;
  if (mpi.initThread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) !=
      MPI_SUCCESS)
    return Status::error(NoDevice, "MPI cannot be initialised");
  if (provided < MPI_THREAD_SERIALIZED)
    return Status::error(NoDevice, "this MPI is built without thread support");
  mpi.setErrhandler(mpi.world, mpi.errorsReturn);
  mpi.commRank(mpi.world, &ownRank);
  mpi.commSize(mpi.world, &numRanks);
  const char *local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const int localRanks =
      local ? int(std::strtol(local, nullptr, 10)) : numRanks;
  moreRanksThanCores = localRanks > int(std::thread::hardware_concurrency());
  incomingRequest = mpi.nullRequest;
  listenForAbort();
  return Status::success();
}

void MpiJob::finish() {
  if (aborted())
    return;
  std::lock_guard lock(callMutex);
  if (incomingRequest != mpi.nullRequest) {
    mpi.cancel(&incomingRequest);
    mpi.requestFree(&incomingRequest);
  }
  mpi.finalize();
}

TransferFault MpiJob::faultOf(int result, int peer) {
  if (result == MPI_SUCCESS)
    return {};
  int kind = 0;
  mpi.errorClass(result, &kind);
  if (kind == MPI_ERR_TRUNCATE)
    return {TransferFault::Mismatch, peer};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  mpi.errorString(result, text, &length);
  return {TransferFault::Lost, peer, std::string(text, length)};
}

TransferFault MpiJob::send(TransferSet &set, const void *data, size_t bytes,
                           int peer, int tag) {
  std::lock_guard lock(callMutex);
  MPI_Request request = mpi.nullRequest;
  const int result =
      mpi.isend(data, int(bytes), mpi.byte, peer, tag, mpi.world, &request);
  set.requests.push_back(request);
  set.transfers.push_back({peer, -1, set.ticket});
  ++set.pending;
  return faultOf(result, peer);
}

TransferFault MpiJob::receive(TransferSet &set, void *data, size_t bytes,
                              int peer, int tag) {
  std::lock_guard lock(callMutex);
  MPI_Request request = mpi.nullRequest;
  const int result =
      mpi.irecv(data, int(bytes), mpi.byte, peer, tag, mpi.world, &request);
  set.requests.push_back(request);
  set.transfers.push_back({peer, int(bytes), set.ticket});
  ++set.pending;
  return faultOf(result, peer);
}

TransferFault MpiJob::checkEnded(const MpiTransfer &transfer,
                                 MPI_Status &status) {
  if (transfer.expectedBytes < 0)
    return {};
  int received = 0;
  mpi.getCount(&status, mpi.byte, &received);
  if (received == transfer.expectedBytes)
    return {};
  return {TransferFault::Mismatch, transfer.peer};
}

/// Finds the complete transfers of `set` by MPI_Testsome. The returned fault
/// describes the first failure of a complete transfer: an error code of MPI, or
/// a receive of a wrong number of bytes. If there is no failure, the kind of
/// the fault is None.
///
/// If MPI_Testsome returns another error than MPI_ERR_IN_STATUS, MPI does not
/// tell which transfer failed. The fault then names the peer (other rank) of
/// the first transfer in `set`, although a different transfer may have failed.
TransferFault MpiJob::poll(TransferSet &set) {
  if (set.pending == 0)
    return {};
  std::lock_guard lock(callMutex);
  endedIndices.resize(std::max(endedIndices.size(), set.requests.size()));
  endedStatuses.resize(endedIndices.size());
  int ended = 0;
  const int result =
      mpi.testsome(int(set.requests.size()), set.requests.data(), &ended,
                   endedIndices.data(), endedStatuses.data());
  if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS)
    return faultOf(result, set.transfers.front().peer);
  if (ended == MPI_UNDEFINED) {
    set.pending = 0;
    return {};
  }
  TransferFault fault;
  for (int i = 0; i < ended; ++i) {
    const MpiTransfer &transfer = set.transfers[endedIndices[i]];
    if (fault.kind == TransferFault::None && result == MPI_ERR_IN_STATUS)
      fault = faultOf(endedStatuses[i].MPI_ERROR, transfer.peer);
    if (fault.kind == TransferFault::None)
      fault = checkEnded(transfer, endedStatuses[i]);
  }
  set.pending -= ended;
  return fault;
}

void MpiJob::cancel(TransferSet &set) {
  std::lock_guard lock(callMutex);
  for (size_t i = 0; i < set.requests.size(); ++i)
    if (set.requests[i] != mpi.nullRequest &&
        set.transfers[i].expectedBytes >= 0) {
      mpi.cancel(&set.requests[i]);
      mpi.requestFree(&set.requests[i]);
    }
  set.pending = 0;
}

Status MpiJob::abortReason() const {
  std::lock_guard lock(reasonMutex);
  return reasonOfAbort;
}

void MpiJob::rememberAbort(const Status &reason) {
  std::lock_guard lock(reasonMutex);
  if (aborted())
    return;
  reasonOfAbort = reason;
  over.store(true, std::memory_order_release);
}

void MpiJob::listenForAbort() {
  mpi.irecv(&incoming, sizeof incoming, mpi.byte, MPI_ANY_SOURCE, kAbortTag,
            mpi.world, &incomingRequest);
}

void MpiJob::lookForAbort() {
  if (aborted())
    return;
  int arrived = 0;
  {
    std::lock_guard lock(callMutex);
    if (incomingRequest == mpi.nullRequest)
      return;
    mpi.test(&incomingRequest, &arrived, MPI_STATUS_IGNORE);
  }
  if (!arrived)
    return;
  incoming.reason[sizeof incoming.reason - 1] = '\0';
  rememberAbort(statusOfLines(ExitCode(incoming.code), incoming.reason));
}

// Sends the error to every other rank. Stops after 0.2 s, because a rank may be
// unreachable.
void MpiJob::abort(const Status &reason) {
  {
    std::lock_guard lock(reasonMutex);
    if (aborted())
      return;
    reasonOfAbort = reason;
    over.store(true, std::memory_order_release);
  }
  outgoing.code = reason.code();
  std::strncpy(outgoing.reason, linesOf(reason).c_str(),
               sizeof outgoing.reason - 1);
  TransferSet set;
  for (int peer = 0; peer < numRanks; ++peer)
    if (peer != ownRank)
      send(set, &outgoing, sizeof outgoing, peer, kAbortTag);
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (set.pending > 0 && std::chrono::steady_clock::now() < until) {
    poll(set);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

} // namespace pcc::runtime
