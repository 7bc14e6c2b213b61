//===- ThreadGroup.h - one rank's end of a group of threads ---------------===//

#ifndef PCC_RUNTIME_COMM_THREAD_THREADGROUP_H
#define PCC_RUNTIME_COMM_THREAD_THREADGROUP_H

#include "runtime/comm/WaitError.h"
#include "runtime/comm/flight/PendingPosts.h"
#include "runtime/comm/thread/GroupState.h"

#include <atomic>
#include <memory>
#include <vector>

namespace pcc::runtime {

/// One rank's end of a group whose members are threads of this process.
/// Collectives work on the buffers of all members directly (GroupState.h).
/// Messages go through the group's mailboxes, one at a time per pair of
/// members; further messages wait in `sends` and `receives`.
class ThreadGroup final : public Group {
public:
  /// `place` is the state that all members share, and `ownIndex` this rank's
  /// index in the group. `seconds` is the rank's current deadline, which all of
  /// its groups share.
  ThreadGroup(std::shared_ptr<ThreadJob> sharedJob,
              std::shared_ptr<GroupState> place, int ownIndex,
              std::shared_ptr<std::atomic<double>> seconds,
              std::shared_ptr<FlightRecorder> ownRecorder);
  /// Withdraws messages that have not been received, because their memory may
  /// go away.
  ~ThreadGroup() override { withdraw(); }

  int size() const override { return groupState->size(); }
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
  /// A posted piece that has not been transferred completely.
  struct Pending {
    PeerBuffer piece;
    Ticket ticket;
    bool isOffered = false; ///< whether the piece is in its mailbox
  };

  /// Returns whether no piece before number `index` has the same peer. Only
  /// such a piece may use the mailbox.
  static bool isFirstOfPeer(const std::vector<Pending> &list, size_t index);
  /// Removes every piece that is the first of its peer and for which `moved`
  /// returns true.
  template <typename Moved>
  static void drop(std::vector<Pending> &list, Moved moved);
  /// Puts a piece into its mailbox, and wakes the receiver.
  void offer(Pending &pending);
  /// Offers the first piece of every peer that is not offered yet.
  void publish();
  /// Receives a piece if it is in its mailbox. Returns whether it was. A piece
  /// of the wrong size is not copied but sets `mismatchedPeer`.
  bool receive(const PeerBuffer &piece);
  /// Returns whether the receiver has copied an offered piece.
  bool wasTaken(const PeerBuffer &piece) const;
  /// Returns whether no piece of `tickets` is pending.
  bool isComplete(std::span<const Ticket> tickets) const;
  /// Returns the world ranks of the peers with pending pieces of `tickets`, in
  /// ascending order.
  std::vector<int> missing(std::span<const Ticket> tickets) const;
  /// Removes all pending pieces. Afterwards no peer accesses their memory.
  void withdraw();

  /// Runs one collective: publishes `call`, calls `work` while the buffers of
  /// all members may be used, and waits until all members have finished. Ends
  /// the run if the members' calls do not match.
  template <typename Work>
  Status together(const MemberCall &call, const ActionId &action, Work work);
  /// Returns the call as error messages describe it.
  CallSite siteOf(std::string_view call, const ActionId &action) const;
  /// Returns the time at which a wait that begins at this moment must end.
  Clock::time_point deadline() const;
  /// Ends the run on all ranks, and returns the reason of its end: `reason`, or
  /// an earlier one.
  Status endRun(Status reason);
  /// Begins a recorder entry for a wait for the world ranks `peers`.
  FlightRecorder::Entry beginWait(const CallSite &site,
                                  std::span<const int> peers);
  /// Sets the peers of a recorder entry to `missing`, without this rank.
  void noteMissing(FlightRecorder::Entry entry, std::span<const int> missing);
  /// Returns the error of a wait that failed: the reason of an abort, or else a
  /// missed deadline, which ends the run.
  Status describeMissing(const CallSite &site, const std::vector<int> &missing);

  std::shared_ptr<ThreadJob> job;
  std::shared_ptr<GroupState> groupState;
  const int self;
  std::shared_ptr<std::atomic<double>> deadlineSeconds;
  std::shared_ptr<FlightRecorder> recorder;
  PendingPosts posts;
  /// Number of barrier steps in which this rank has taken part.
  uint64_t steps = 0;
  /// Buffers of all members in a reduction. Members, so that their memory is
  /// reused.
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  /// Pending pieces in the order of their posts. A mailbox holds one piece, so
  /// only the first piece of each peer is transferred.
  std::vector<Pending> sends;
  std::vector<Pending> receives;
  Ticket newest = 0;       ///< latest ticket; tickets begin with 1
  int mismatchedPeer = -1; ///< member that sent a wrong size; -1 if none
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADGROUP_H
