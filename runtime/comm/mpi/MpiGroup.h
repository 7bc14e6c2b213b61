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

/// Object by which one rank communicates with the other ranks of a group. A
/// group is a fixed, ordered set of ranks. Each rank is an MPI process. All
/// messages of a group have the same MPI tag, and each group has its own tag.
class MpiGroup final : public Group {
public:
  /// Creates this rank's object for the group whose member i has the world rank
  /// `worldRanks[i]`.
  ///
  /// - `sharedJob`: connection of this process to MPI, for all its groups
  /// - `messageTag`: MPI tag of the group's messages; equal on all members, and
  ///   used by no other group
  /// - `seconds`: longest time, in seconds, that a call may block; all groups
  ///   of this rank share this number, which World::setDeadline() changes
  /// - `ownRecorder`: flight recorder (log of this rank's latest activities)
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

  /// All-reduces a small array. `sum` contains the address of this member's
  /// array, the address of the result, the number of elements, and the
  /// operator. allReduce() calls this function if the array has at most 4096
  /// bytes, or if the group has only one member. Each member sends its whole
  /// array to every other member, and then reduces the arrays of all members
  /// itself. `site` describes the call of allReduce() for error messages.
  Status reduceSmall(const Sum &sum, const CallSite &site);
  /// All-reduces one block of an array. A block is a range of at most 16 MiB.
  /// If a group has several members, allReduce() divides an array of more than
  /// 4096 bytes into blocks, and calls this function once for each block. The
  /// function uses two rounds of messages: a reduce-scatter, then an
  /// all-gather. `sum` describes the block, and `site` describes the call for
  /// error messages.
  Status reduceShares(const Sum &sum, const CallSite &site);
  /// Begins to send the messages `sends` and to receive the messages
  /// `receives`. Does not wait until they are complete. Increments
  /// `underWay.ticket`: the new value is the ticket (handle for wait()) of
  /// these messages. If this member sends a message to itself, copies the
  /// message at once. `site` describes the call for error messages.
  Status begin(std::span<const PeerBuffer> sends,
               std::span<const PeerBuffer> receives, const CallSite &site);
  /// Executes one round of a collective: sends the messages `toSend`, receives
  /// the messages `toGet`, and waits until all are complete.
  Status runPieces(const CallSite &site);
  /// Begins to receive or to send one message. `piece` contains the index of
  /// the other member, the memory of the message, and the size of the message.
  /// If `receives` is true, begins to receive the message from the other
  /// member. If `receives` is false, begins to send the message to the other
  /// member. Does not wait until the message is complete.
  ///
  /// A message of more than 2^30 bytes is transferred as several MPI messages.
  /// Each MPI message has at most 2^30 bytes (MpiJob::kLargestMessage).
  ///
  /// If MPI reports an error, returns a description of the error. Otherwise
  /// returns a TransferFault of kind None.
  TransferFault post(const PeerBuffer &piece, bool receives);
  /// Blocks until all transfers of `tickets` (handles of post() calls) are
  /// complete. Records the wait in the flight recorder (log of a rank's latest
  /// activities).
  Status wait(std::span<const Ticket> tickets, const CallSite &site);
  /// Blocks until all transfers of `tickets` are complete. A transfer is a send
  /// to another rank or a receive from another rank. A ticket is the handle of
  /// a call, such as post(), that has begun transfers. While this function
  /// blocks, it polls MPI. Returns an error in each of these cases:
  ///
  /// - A transfer of this group fails.
  /// - An error has ended the run, on this rank or on another rank.
  /// - This function has blocked for longer than World::deadline() seconds.
  ///
  /// `site` describes the call for error messages. The flight recorder is a log
  /// of this rank's latest activities. `entry` is the entry of the log that
  /// describes this wait.
  Status waitNoted(std::span<const Ticket> tickets, const CallSite &site,
                   FlightRecorder::Entry entry);
  /// Updates an entry of the flight recorder, which is a log of a rank's latest
  /// activities. The entry `entry` describes this rank's wait for the transfers
  /// of `tickets` (handles of post() calls). A transfer is a send to another
  /// rank or a receive from another rank. After this call, the entry lists the
  /// other ranks of all transfers that are incomplete.
  void noteMissing(std::span<const Ticket> tickets,
                   FlightRecorder::Entry entry);
  /// Returns whether an MPI transfer is incomplete, and one of the calls in the
  /// list `tickets` has begun the transfer. A transfer is a send or a receive.
  /// `index` is the index of the transfer in the list `underWay.transfers`.
  /// Each call that begins transfers, such as post(), has a number. The number
  /// is called the ticket of the call. For example, `tickets` is {4, 6}. The
  /// result is then true for an incomplete transfer of call 6. The result is
  /// false for a complete transfer of call 6, and for each transfer of call 5.
  bool isUnderWay(size_t index, std::span<const Ticket> tickets) const;
  /// Returns whether all transfers of `tickets` (handles of post() calls) are
  /// complete.
  bool isComplete(std::span<const Ticket> tickets) const;
  /// Ends the run on all ranks, because the transfer of a message failed.
  /// Returns the error that ended the run: an error for `fault`, or an earlier
  /// error if the run has already ended.
  ///
  /// - `fault`: the failure. Either the sizes of sender and receiver differ, or
  ///   MPI reported an error.
  /// - `site`: description of the call that failed. The text of the error
  ///   contains it.
  Status describe(const TransferFault &fault, const CallSite &site);
  /// Ends the run on all ranks with the error `reason`, and returns `reason`.
  /// If an earlier error has already ended the run, returns the earlier error
  /// instead. In both cases, cancels the receives of this group that are not
  /// complete, so that MPI no longer writes to their memory.
  Status endRun(const Status &reason);
  /// Returns the world ranks for which this rank still waits, in ascending
  /// order. `tickets` are the numbers of earlier calls, such as post(), that
  /// have begun messages. This rank waits for another rank if one of these
  /// calls has begun to send a message to that rank, or to receive a message
  /// from that rank, and the message is incomplete.
  std::vector<int> missing(std::span<const Ticket> tickets) const;
  /// Returns the description of a communication call for error messages. `call`
  /// is the name of the call, such as "all_reduce". `action` contains the names
  /// of the schedule action and of the tensor for which this rank communicates.
  /// The description contains all three names, the world rank of this process,
  /// and the world ranks of all members of this group. The description does not
  /// copy `call` and `action`, so both must outlive it.
  CallSite siteOf(std::string_view call, const ActionId &action) const;
  /// Returns the index of the member to which this member sends its message
  /// number `turn`. A member numbers its messages to the other members from 1
  /// to size() - 1. The first messages of all members go to different members,
  /// so no member receives all of them at once. An example with 3 members:
  ///
  ///              message 1     message 2
  ///   member 0   to member 1   to member 2
  ///   member 1   to member 2   to member 0
  ///   member 2   to member 0   to member 1
  int peerAt(int turn) const { return (self + turn) % size(); }

  const std::shared_ptr<MpiJob> job;
  const std::vector<int> members;
  const int self;
  const int tag; ///< of all messages of this group
  const std::shared_ptr<std::atomic<double>> deadlineSeconds;
  const std::shared_ptr<FlightRecorder> recorder;
  PendingPosts posts;
  /// MPI sends and receives of this group. A send or a receive is called a
  /// transfer. The set contains all incomplete transfers, and may also contain
  /// complete transfers. A transfer that becomes complete stays in the set at
  /// first. When all transfers in the set are complete, the next call of
  /// begin() empties the set.
  TransferSet underWay;
  /// First failure of a message of this group. advance() polls MPI and can find
  /// a failure, but it cannot return an error. It stores the failure here, and
  /// the next wait() returns the failure as an error.
  TransferFault found;
  /// Messages of the current round of a collective. `toSend` are the messages
  /// that this member sends. `toGet` are the messages that this member
  /// receives. A collective, such as an all-reduce, consists of one round or of
  /// two rounds. A round ends when all of its messages are complete. The two
  /// lists are data members, so that the next round reuses their memory.
  std::vector<PeerBuffer> toSend;
  std::vector<PeerBuffer> toGet;
  /// Elements received from the other members for a reduction.
  std::vector<char> scratch;
  /// Pointers to the arrays that the current reduction combines. The list has
  /// one pointer for each member of the group. Pointer i points to the elements
  /// of member i. The pointer of this member points into the array `in` that
  /// the caller passed to allReduce(). The pointer of any other member points
  /// into `scratch`, which contains the elements that this member has received
  /// from the other members.
  std::vector<const void *> inputs;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPIGROUP_H
