//===- MpiJob.h - one process's place in an MPI job -----------------------===//
//
// Every call into MPI goes through here, one at a time, and none blocks. Ends
// of a run travel as messages of their own: whoever waits looks for them.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_MPIJOB_H
#define PCC_RUNTIME_COMM_MPI_MPIJOB_H

#include "runtime/comm/mpi/MpiLibrary.h"

#include <atomic>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// A message under way.
struct MpiTransfer {
  int peer;          ///< world rank
  int expectedBytes; ///< of a receive; -1 for sends
  uint64_t ticket;   ///< of the call that began it
};

/// Messages under way. Requests that have ended are null.
struct TransferSet {
  std::vector<MPI_Request> requests = {};
  std::vector<MpiTransfer> transfers = {};
  size_t pending = 0;
  uint64_t ticket = 0; ///< of what is added

  void clear() {
    requests.clear();
    transfers.clear();
    pending = 0;
  }
};

/// What went wrong with a transfer.
struct TransferFault {
  enum Kind { None, Mismatch, Lost } kind = None;
  int peer = -1;
  std::string text = {};
};

class MpiJob {
public:
  /// Initialises MPI.
  Status start();
  /// Ends MPI, unless the run was aborted. All ranks have to arrive.
  void finish();

  int rank() const { return ownRank; }
  int size() const { return numRanks; }
  bool oversubscribed() const { return moreRanksThanCores; }

  /// Messages of at most kLargestMessage bytes.
  TransferFault send(TransferSet &set, const void *data, size_t bytes, int peer,
                     int tag);
  TransferFault receive(TransferSet &set, void *data, size_t bytes, int peer,
                        int tag);
  /// Lets MPI progress and notes what has ended.
  TransferFault poll(TransferSet &set);
  bool hasEnded(MPI_Request request) const {
    return request == mpi.nullRequest;
  }
  /// Gives up on receives that are still pending.
  void cancel(TransferSet &set);

  /// Ends the run here and tells all other ranks; the first reason counts.
  void abort(const Status &reason);
  bool aborted() const { return over.load(std::memory_order_acquire); }
  Status abortReason() const;
  /// Looks for the message by which another rank ends the run.
  void lookForAbort();

  /// Of the messages that end a run; groups use the tags above.
  static constexpr int kAbortTag = 0;
  static constexpr size_t kLargestMessage = size_t(1) << 30;

private:
  struct AbortMessage {
    int32_t code;
    char reason[1020];
  };

  TransferFault faultOf(int result, int peer);
  TransferFault checkEnded(const MpiTransfer &transfer, MPI_Status &status);
  void rememberAbort(const Status &reason);
  void listenForAbort();

  MpiLibrary mpi = {};
  int ownRank = 0;
  int numRanks = 1;
  bool moreRanksThanCores = false;
  std::mutex callMutex; ///< MPI is initialised as serialized

  std::atomic<bool> over{false};
  mutable std::mutex reasonMutex;
  Status reasonOfAbort;
  AbortMessage incoming = {};
  AbortMessage outgoing = {};
  MPI_Request incomingRequest = nullptr;
  std::vector<int> endedIndices;
  std::vector<MPI_Status> endedStatuses;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPIJOB_H
