//===- MpiJob.h - all calls of one process into MPI -----------------------===//
//
// Every call into MPI goes through MpiJob, which serializes the calls by a
// mutex. Between start() and finish() no call blocks. A rank that ends the run
// sends an abort message to all other ranks. Waits call lookForAbort() to check
// for this message, because MPI delivers nothing outside of MPI calls.
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

/// An MPI send or receive that has been started.
struct MpiTransfer {
  int peer;          ///< world rank of the other side
  int expectedBytes; ///< size of a receive; -1 for sends
  uint64_t ticket;   ///< ticket of the call that began the transfer
};

/// MPI transfers of one group. MPI request i belongs to transfer i; MPI sets it
/// to MPI_REQUEST_NULL when the transfer is complete.
struct TransferSet {
  std::vector<MPI_Request> requests = {};
  std::vector<MpiTransfer> transfers = {};
  size_t pending = 0;  ///< number of incomplete transfers
  uint64_t ticket = 0; ///< ticket of the transfers that are added next

  /// Empties the set. No transfer of the set may be pending.
  void clear() {
    requests.clear();
    transfers.clear();
    pending = 0;
  }
};

/// Describes the failure of an MPI send or receive. `kind` has one of these
/// values:
///
/// - None: there is no failure.
/// - Mismatch: the message that arrived has another size than the receiver
///   expected.
/// - Lost: MPI reported any other error. `text` contains the message of MPI.
struct TransferFault {
  enum Kind { None, Mismatch, Lost } kind = None;
  int peer = -1;         ///< world rank of the other side
  std::string text = {}; ///< MPI's message, if the kind is Lost
};

/// The connection of one process (one rank) to MPI; makes all calls into MPI.
/// abort(), aborted() and abortReason() are thread-safe. Only the rank's thread
/// may call the other functions.
class MpiJob {
public:
  /// Loads and initializes MPI. May be called once per process. Returns an
  /// error with exit code 13 if MPI cannot be loaded or initialized, or if it
  /// lacks thread support (MPI_THREAD_SERIALIZED).
  Status start();
  /// Finalizes MPI, and blocks until all ranks do so. Does nothing after an
  /// abort, because other ranks might never finalize.
  void finish();

  /// Returns this process's rank in MPI_COMM_WORLD.
  int rank() const { return ownRank; }
  /// Returns the number of ranks in MPI_COMM_WORLD.
  int size() const { return numRanks; }
  /// Returns whether this host has more ranks than cores.
  bool oversubscribed() const { return moreRanksThanCores; }

  /// Begins to send a message to world rank `peer` by MPI_Isend. `data` is the
  /// memory of the message. The message has `bytes` bytes, at most
  /// kLargestMessage. `tag` is the MPI tag of the message. Adds the send to
  /// `set`. A later call of poll() finds out whether the send is complete.
  ///
  /// If MPI_Isend fails, returns a description of the failure. Otherwise
  /// returns a TransferFault of kind None.
  TransferFault send(TransferSet &set, const void *data, size_t bytes, int peer,
                     int tag);
  /// Begins to receive a message from world rank `peer` by MPI_Irecv. MPI
  /// writes the message to the memory `data`. The message must have exactly
  /// `bytes` bytes, at most kLargestMessage. `tag` is the MPI tag of the
  /// message. Adds the receive to `set`. A later call of poll() finds out
  /// whether the receive is complete. poll() returns a failure if the message
  /// has more or fewer bytes.
  ///
  /// If MPI_Irecv fails, returns a description of the failure. Otherwise
  /// returns a TransferFault of kind None.
  TransferFault receive(TransferSet &set, void *data, size_t bytes, int peer,
                        int tag);
  /// Calls MPI_Testsome, in which MPI transfers data and finds the transfers of
  /// `set` that are complete. Updates `set.pending`, the number of incomplete
  /// transfers. Returns a description of the first failure of a transfer. If
  /// there is no failure, the kind of the TransferFault is None.
  TransferFault poll(TransferSet &set);
  /// Returns whether the transfer with this request has completed.
  bool hasEnded(MPI_Request request) const {
    return request == mpi.nullRequest;
  }
  /// Cancels the pending receives of `set`, so that MPI no longer writes to
  /// their memory. Does not cancel the pending sends. Sets `set.pending`, the
  /// number of incomplete transfers, to 0. poll() then no longer checks the
  /// sends.
  void cancel(TransferSet &set);

  /// Ends the run on all ranks with error `reason`. Does nothing if the run has
  /// ended already. Blocks for at most 0.2 s.
  void abort(const Status &reason);
  /// Returns whether the run has ended by an error, here or on another rank.
  bool aborted() const { return over.load(std::memory_order_acquire); }
  /// Returns the error that ended the run, here or on another rank; success
  /// while the run goes on.
  Status abortReason() const;
  /// Ends the run on this rank if an abort message of another rank has arrived.
  void lookForAbort();

  /// MPI tag of abort messages. The tags of groups are greater.
  static constexpr int kAbortTag = 0;
  /// Largest size in bytes of one MPI message: 2^30. In MPI calls, sizes have
  /// type int, so no message can have 2^31 bytes or more. MpiGroup divides a
  /// larger message into several MPI messages.
  static constexpr size_t kLargestMessage = size_t(1) << 30;

private:
  /// Message that sends the error of a run to another rank. The message has
  /// only 2048 bytes, so that MPI uses its eager protocol: MPI sends the
  /// message without waiting for an answer of the receiver. MPI would send a
  /// large message only after the receiver has answered. A receiver answers
  /// only inside an MPI call, and the receiver may be computing.
  struct AbortMessage {
    int32_t code; ///< exit code
    /// Text of the error, with a NUL at the end. The first line is the error's
    /// message. Each later line is a note, which tells a cause or a remedy. A
    /// text of more than 2043 bytes is truncated.
    char reason[2044];
  };

  /// Converts an MPI error code to a TransferFault. `result` is the code that
  /// MPI returned for a transfer. `peer` is the world rank of the other side.
  /// The kind of the fault depends on the code:
  ///
  ///   MPI_SUCCESS        None: no failure
  ///   MPI_ERR_TRUNCATE   Mismatch: the receiver expected fewer bytes
  ///   other codes        Lost; the fault also contains MPI's message
  TransferFault faultOf(int result, int peer);
  /// Checks the size of a complete transfer. `status` is MPI's status of the
  /// transfer. Returns a fault of kind Mismatch if the transfer is a receive,
  /// and if the number of received bytes differs from `transfer.expectedBytes`.
  /// Otherwise returns a fault of kind None, which means that there is no
  /// failure.
  TransferFault checkEnded(const MpiTransfer &transfer, MPI_Status &status);
  /// Stores `reason` as the error that ended the run. Does nothing if an error
  /// is already stored. Does not send the error to other ranks.
  void rememberAbort(const Status &reason);
  /// Begins to receive an abort message, from any rank, into `incoming`.
  void listenForAbort();

  MpiLibrary mpi = {};
  int ownRank = 0;
  int numRanks = 1;
  bool moreRanksThanCores = false;
  /// Mutex held during every MPI call: MPI_THREAD_SERIALIZED requires it.
  std::mutex callMutex;

  /// Whether the run has ended by an error, and `reasonOfAbort` is set.
  std::atomic<bool> over{false};
  /// Guards `reasonOfAbort`.
  mutable std::mutex reasonMutex;
  Status reasonOfAbort;
  AbortMessage incoming = {};
  AbortMessage outgoing = {};
  /// MPI request of the receive that writes another rank's abort message to
  /// `incoming`.
  MPI_Request incomingRequest = nullptr;
  /// Output arrays of MPI_Testsome, which poll() calls. MPI_Testsome writes the
  /// indices of the complete transfers to the first elements of `endedIndices`.
  /// MPI_Testsome writes the MPI statuses of these transfers to the first
  /// elements of `endedStatuses`. Both arrays are data members, so that the
  /// next poll() reuses their memory.
  std::vector<int> endedIndices;
  std::vector<MPI_Status> endedStatuses;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPIJOB_H
