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

/// One rank's end of a group of MPI processes. All groups use MPI_COMM_WORLD
/// and differ by message tag.
class MpiGroup final : public Group {
public:
  /// `worldRanks` are the members in group order, this rank included.
  /// `messageTag` must be the same on all members and differ from those of all
  /// other groups. `seconds` is the rank's current deadline, which all of its
  /// groups share.
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

  /// Reduces a small block in one round: every member receives the elements of
  /// all members.
  Status reduceSmall(const Sum &sum, const CallSite &site);
  /// Reduces a large block in two rounds: a reduce-scatter, then an all-gather.
  Status reduceShares(const Sum &sum, const CallSite &site);
  /// Begins to send and receive all pieces under a new ticket. Copies the piece
  /// that this rank sends to itself.
  Status begin(std::span<const PeerBuffer> sends,
               std::span<const PeerBuffer> receives, const CallSite &site);
  /// Runs one round of a collective: begins `toSend` and `toGet`, and waits for
  /// all of these pieces.
  Status runPieces(const CallSite &site);
  /// Begins one send, or one receive if `receives` is true. Splits the piece
  /// into messages of at most MpiJob::kLargestMessage bytes.
  TransferFault post(const PeerBuffer &piece, bool receives);
  /// Waits for `tickets`, and records the wait in the flight recorder.
  Status wait(std::span<const Ticket> tickets, const CallSite &site);
  /// Polls until all transfers of `tickets` are complete. Fails on a faulty
  /// transfer, an abort, or a missed deadline. `entry` is the recorder's entry
  /// of the wait.
  Status waitNoted(std::span<const Ticket> tickets, const CallSite &site,
                   FlightRecorder::Entry entry);
  /// Sets the peers of `entry` to those whose transfers are incomplete.
  void noteMissing(std::span<const Ticket> tickets,
                   FlightRecorder::Entry entry);
  /// Returns whether transfer number `index` of `underWay` is incomplete and
  /// belongs to one of `tickets`.
  bool isUnderWay(size_t index, std::span<const Ticket> tickets) const;
  /// Returns whether all transfers of `tickets` are complete.
  bool isComplete(std::span<const Ticket> tickets) const;
  /// Ends the run because of `fault`, and returns the reason of its end.
  Status describe(const TransferFault &fault, const CallSite &site);
  /// Ends the run on all ranks, and returns the reason of its end: `reason`, or
  /// an earlier one.
  Status endRun(const Status &reason);
  /// Returns the world ranks of the peers whose transfers are incomplete, in
  /// ascending order.
  std::vector<int> missing(std::span<const Ticket> tickets) const;
  /// Returns the call as error messages describe it.
  CallSite siteOf(std::string_view call, const ActionId &action) const;
  /// Returns the peer of turn 1 to size() - 1. Every member starts with its
  /// right neighbor, so that the members do not all send to one member at the
  /// same time.
  int peerAt(int turn) const { return (self + turn) % size(); }

  const std::shared_ptr<MpiJob> job;
  const std::vector<int> members;
  const int self;
  const int tag; ///< of all messages of this group
  const std::shared_ptr<std::atomic<double>> deadlineSeconds;
  const std::shared_ptr<FlightRecorder> recorder;
  PendingPosts posts;
  /// Transfers in flight, and those that ended since the set was last empty.
  TransferSet underWay;
  /// First fault that advance() found. The next wait reports the fault.
  TransferFault found;
  /// Pieces of the current round of a collective. Members, so that their memory
  /// is reused.
  std::vector<PeerBuffer> toSend;
  std::vector<PeerBuffer> toGet;
  /// Elements received from the other members for a reduction.
  std::vector<char> scratch;
  /// Operands of a reduction, by member.
  std::vector<const void *> inputs;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPIGROUP_H
