//===- MpiGroup.h - collectives made of MPI point-to-point messages -------===//
//
// MPI's own collectives are not used. A collective is one round, or two, of
// direct messages between members. A large all-reduce is a direct
// reduce-scatter followed by an all-gather, which moves as many bytes as a
// bandwidth-optimal algorithm. In return, reductions follow TreeReduce.h, and a
// missed deadline can name the members whose messages are missing.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_MPIGROUP_H
#define PCC_RUNTIME_COMM_MPI_MPIGROUP_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/WaitError.h"
#include "runtime/comm/flight/PendingPosts.h"
#include "runtime/comm/mpi/MpiJob.h"

#include <atomic>
#include <memory>
#include <vector>

namespace pcc::runtime {

/// One rank's view of a group (fixed, ordered set of ranks) of MPI processes.
/// All groups use MPI_COMM_WORLD; the tag of a message identifies its group.
class MpiGroup final : public Group {
public:
  /// Creates the view of one member. `worldRanks` are the members in group
  /// order, this rank included. `messageTag` must be the same on all members
  /// and differ from the tags of all other groups. `seconds` is the longest
  /// time of one wait; all groups of the rank share this number.
  MpiGroup(std::shared_ptr<MpiJob> sharedJob, std::vector<int> worldRanks,
           int messageTag, std::shared_ptr<std::atomic<double>> seconds,
           std::shared_ptr<FlightRecorder> ownRecorder);

  int size() const override { return int(members.size()); }
  int index() const override { return self; }

  Status allReduce(const void *in, void *out, size_t count, ElementType type,
                   dist::ReductionKind kind, const ActionId &action) override;
  Status allGather(const void *in, void *out, size_t bytes,
                   const ActionId &action) override;
  Status post(std::span<const PeerBuffer> sends,
              std::span<const PeerBuffer> receives, const ActionId &action,
              Ticket &ticket) override;
  Status wait(std::span<const Ticket> tickets, const ActionId &action) override;
  void advance() override;
  Status broadcast(void *data, size_t bytes, int root,
                   const ActionId &action) override;
  Status barrier(const ActionId &action) override;

private:
  struct Sum;

  /// All-reduces an array of at most 4096 bytes, or of any size if the group
  /// has one member. Uses one round of messages: every member receives the
  /// elements of all members and reduces them itself.
  Status reduceSmall(const Sum &sum, const CallSite &site);
  /// All-reduces one block of an array of more than 4096 bytes in two rounds of
  /// messages: a reduce-scatter, then an all-gather.
  Status reduceShares(const Sum &sum, const CallSite &site);
  /// Begins to send all messages `sends` and to receive all messages `receives`
  /// under a new ticket (handle for wait()). A message from this rank to itself
  /// is copied.
  Status begin(std::span<const PeerBuffer> sends,
               std::span<const PeerBuffer> receives, const CallSite &site);
  /// Executes one round of a collective: begins to send the messages `toSend`
  /// and to receive the messages `toGet`, and waits until all are complete.
  Status runPieces(const CallSite &site);
  /// Begins to receive the message `piece` if `receives` is true, otherwise to
  /// send it. Splits the message into MPI messages of at most
  /// MpiJob::kLargestMessage bytes.
  TransferFault post(const PeerBuffer &piece, bool receives);
  /// Blocks until all transfers of `tickets` (handles of post() calls) are
  /// complete, and records this wait in the flight recorder.
  Status wait(std::span<const Ticket> tickets, const CallSite &site);
  /// Polls until all transfers of `tickets` (handles of post() calls) are
  /// complete. Returns an error if a transfer fails, if the run is aborted, or
  /// if the deadline passes. `entry` is the flight recorder's entry of this
  /// wait.
  Status waitNoted(std::span<const Ticket> tickets, const CallSite &site,
                   FlightRecorder::Entry entry);
  /// Replaces the peers of the flight recorder's `entry` by the ranks whose
  /// transfers of `tickets` (handles of post() calls) are incomplete.
  void noteMissing(std::span<const Ticket> tickets,
                   FlightRecorder::Entry entry);
  /// Returns whether a transfer belongs to one of `tickets` (handles of post()
  /// calls) and is incomplete. `index` is the transfer's index in `underWay`.
  bool isUnderWay(size_t index, std::span<const Ticket> tickets) const;
  /// Returns whether all transfers of `tickets` (handles of post() calls) are
  /// complete.
  bool isComplete(std::span<const Ticket> tickets) const;
  /// Ends the run because a transfer failed with `fault`, and returns the error
  /// that describes the fault. If the run has already ended, only returns the
  /// error with which it ended.
  Status describe(const TransferFault &fault, const CallSite &site);
  /// Ends the run on all ranks with error `reason`, and returns `reason`. If
  /// the run has already ended, only returns the error with which it ended.
  Status endRun(const Status &reason);
  /// Returns the world ranks, in ascending order, of the peers with which
  /// transfers of `tickets` (handles of post() calls) are incomplete.
  std::vector<int> missing(std::span<const Ticket> tickets) const;
  /// Returns the description of a call of this group for error messages.
  CallSite siteOf(std::string_view call, const ActionId &action) const;
  /// Returns the index of the member with which this rank communicates in turn
  /// `turn`, 1 to size() - 1. Every member starts with the next higher member,
  /// so that the members do not all send to one member at the same time.
  int peerAt(int turn) const { return (self + turn) % size(); }

  const std::shared_ptr<MpiJob> job;
  const std::vector<int> members;
  const int self;
  const int tag; ///< of all messages of this group
  const std::shared_ptr<std::atomic<double>> deadlineSeconds;
  const std::shared_ptr<FlightRecorder> recorder;
  PendingPosts posts;
  /// Transfers in flight. Completed transfers stay in the set until none is in
  /// flight.
  TransferSet underWay;
  /// First failure of a transfer that advance() has found. The next wait()
  /// returns this failure as an error.
  TransferFault found;
  /// Messages of the current round of a collective, to send and to receive.
  /// They are data members so that their allocations are reused.
  std::vector<PeerBuffer> toSend;
  std::vector<PeerBuffer> toGet;
  /// Elements received from the other members for a reduction.
  std::vector<char> scratch;
  /// Arrays that a reduction combines, by member index.
  std::vector<const void *> inputs;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPIGROUP_H
