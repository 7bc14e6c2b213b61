//===- ThreadGroup.h - one rank's end of a group of threads ---------------===//

#ifndef PCC_RUNTIME_COMM_THREAD_THREADGROUP_H
#define PCC_RUNTIME_COMM_THREAD_THREADGROUP_H

#include "runtime/comm/WaitError.h"
#include "runtime/comm/flight/PendingPosts.h"
#include "runtime/comm/thread/GroupState.h"
#include "runtime/comm/thread/ThreadRank.h"

#include <atomic>
#include <memory>
#include <vector>

namespace pcc::runtime {

/// One rank's view of a group (fixed, ordered set of ranks) whose members are
/// threads of this process. Collectives access the members' buffers directly.
/// The lists `sends` and `receives` hold this rank's pending messages. A
/// message passes through the mailbox of its sender and receiver, which holds
/// one message.
class ThreadGroup final : public Group {
public:
  /// Creates one rank's view of a group. `owner` is the rank, `ownIndex` its
  /// index in the group. `place` is the state that all members share.
  ThreadGroup(std::shared_ptr<ThreadRank> owner,
              std::shared_ptr<GroupState> place, int ownIndex);
  /// Withdraws the messages that no receiver has taken, because the caller may
  /// free their memory.
  ~ThreadGroup() override;

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
  /// A message that has been posted and is not yet completely transferred.
  struct Pending {
    PeerBuffer piece;
    Ticket ticket;
    bool isOffered = false; ///< whether the piece is in its mailbox
  };

  /// Returns whether entry `index` of `list` is the first with its peer. Only
  /// this message may use the peer's mailbox.
  static bool isFirstOfPeer(const std::vector<Pending> &list, size_t index);
  /// Calls `moved` for messages of `list`, and removes a message if `moved`
  /// returns true. Keeps the order of messages with the same peer: `moved` gets
  /// only the first one that is still in the list.
  template <typename Moved>
  static void drop(std::vector<Pending> &list, Moved moved);
  /// Puts a message into the mailbox for its receiver, and wakes the receiver.
  void offer(Pending &pending);
  /// Puts the first pending message for each peer into the peer's mailbox,
  /// unless it is there already.
  void publish();
  /// Copies a message from the mailbox to `piece`. Returns whether there was a
  /// message. If its size is wrong, sets `mismatchedPeer` instead of copying.
  bool receive(const PeerBuffer &piece);
  /// Returns whether the receiver has copied `piece` from the mailbox.
  bool wasTaken(const PeerBuffer &piece) const;
  /// Returns whether all messages of `tickets` (handles of post() calls) are
  /// transferred.
  bool isComplete(std::span<const Ticket> tickets) const;
  /// Returns the world ranks, ascending, whose messages of `tickets` (handles
  /// of post() calls) are pending.
  std::vector<int> missing(std::span<const Ticket> tickets) const;
  /// Removes all pending messages of this rank. Peers no longer access their
  /// memory.
  void withdraw();

  /// Executes one collective in three steps:
  ///
  /// 1. Shows `call` to all members, and waits until all members have called.
  /// 2. Calls `work`, which may access the buffers of all members.
  /// 3. Waits until all members have finished `work`.
  ///
  /// If the calls of the members differ, skips step 2 and ends the run.
  template <typename Work>
  Status together(const MemberCall &call, const ActionId &action, Work work);
  /// Returns the description of a call of this group for error messages.
  CallSite siteOf(std::string_view call, const ActionId &action) const;
  /// Returns the time at which a wait that begins now must end.
  Clock::time_point deadline() const;
  /// Ends the run on all ranks with error `reason`, unless it has already
  /// ended. Returns the error with which it has ended.
  Status endRun(const Status &reason);
  /// Begins an entry in the flight recorder (log of a rank's latest
  /// activities). The entry states that this rank waits for the world ranks
  /// `peers`.
  FlightRecorder::Entry beginWait(const CallSite &site,
                                  std::span<const int> peers);
  /// Updates `entry`, a wait in the flight recorder (log of a rank's latest
  /// activities). The entry then lists the world ranks `missing`, without this
  /// rank.
  void noteMissing(FlightRecorder::Entry entry, std::span<const int> missing);
  /// Returns the error of a failed wait: the reason of an abort, or a missed
  /// deadline. A missed deadline ends the run; its message names the world
  /// ranks `missing`.
  Status describeMissing(const CallSite &site, const std::vector<int> &missing);

  const std::shared_ptr<ThreadRank> rank;
  const std::shared_ptr<GroupState> groupState;
  const int self; ///< index of the rank in the group
  ThreadJob &job;
  FlightRecorder &recorder;
  PendingPosts posts;
  /// Number of barrier steps in which this rank has taken part, two per
  /// collective.
  uint64_t steps = 0;
  /// Buffers of all members in a reduction, by member index; data members so
  /// that their memory is reused.
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  /// Pending messages in the order in which they were posted. Only the first
  /// one of each peer uses the mailbox.
  std::vector<Pending> sends;
  std::vector<Pending> receives;
  Ticket newest = 0;       ///< latest ticket; tickets begin with 1
  int mismatchedPeer = -1; ///< member that sent a wrong size; -1 if none
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADGROUP_H
