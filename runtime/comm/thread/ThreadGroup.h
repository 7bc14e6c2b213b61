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
/// threads of this process. In a collective, the members access each other's
/// buffers directly (GroupState.h). For messages, every pair of sender and
/// receiver has a mailbox, which holds one message. Further messages wait in
/// `sends` and `receives`.
class ThreadGroup final : public Group {
public:
  /// Creates the view of a group that the rank `owner` has. `place` is the
  /// state that the members of the group share, and `ownIndex` the rank's index
  /// in the group.
  ThreadGroup(std::shared_ptr<ThreadRank> owner,
              std::shared_ptr<GroupState> place, int ownIndex);
  /// Withdraws the messages that their receivers have not taken yet, because
  /// the caller may free the memory of these messages.
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

  /// Returns whether entry `index` of `list` is the first entry with its peer.
  /// Only the first pending message of each peer may use the mailbox.
  static bool isFirstOfPeer(const std::vector<Pending> &list, size_t index);
  /// For each peer, calls `moved` for the first message in `list` with that
  /// peer. Removes the message from `list` if `moved` returns true.
  template <typename Moved>
  static void drop(std::vector<Pending> &list, Moved moved);
  /// Puts a message into the mailbox for its receiver, and wakes the receiver.
  void offer(Pending &pending);
  /// Puts the first pending message for each peer into the mailbox for that
  /// peer, unless the message is there already.
  void publish();
  /// Copies a message from the mailbox to `piece`, if the sender has put a
  /// message there. Returns whether there was a message. A message of the wrong
  /// size is not copied; `mismatchedPeer` is set instead.
  bool receive(const PeerBuffer &piece);
  /// Returns whether the receiver has copied the message `piece` that is in the
  /// mailbox.
  bool wasTaken(const PeerBuffer &piece) const;
  /// Returns whether all messages of `tickets` (handles of post() calls) have
  /// been transferred.
  bool isComplete(std::span<const Ticket> tickets) const;
  /// Returns the world ranks, in ascending order, of the peers with which
  /// messages of `tickets` (handles of post() calls) are pending.
  std::vector<int> missing(std::span<const Ticket> tickets) const;
  /// Removes all of this rank's pending messages. After the return no peer
  /// accesses the memory of these messages.
  void withdraw();

  /// Executes one collective: publishes `call`, calls `work` while the buffers
  /// of all members may be accessed, and waits until all members have finished.
  /// Ends the run with an error if the members' calls do not match.
  template <typename Work>
  Status together(const MemberCall &call, const ActionId &action, Work work);
  /// Returns the description of a call of this group for error messages.
  CallSite siteOf(std::string_view call, const ActionId &action) const;
  /// Returns the current time plus the longest time of one wait.
  Clock::time_point deadline() const;
  /// Ends the run on all ranks with error `reason`, and returns `reason`. If
  /// the run had ended before, returns the error of that earlier end instead.
  Status endRun(const Status &reason);
  /// Begins an entry in the flight recorder for a wait for the world ranks
  /// `peers`, and returns the number of the entry.
  FlightRecorder::Entry beginWait(const CallSite &site,
                                  std::span<const int> peers);
  /// Replaces the peers of a flight recorder entry by the ranks in `missing`,
  /// except for this rank.
  void noteMissing(FlightRecorder::Entry entry, std::span<const int> missing);
  /// Returns the error of a wait that failed. If the run was aborted, returns
  /// the reason of the abort. Otherwise ends the run with the error of a missed
  /// deadline, which names the world ranks `missing`, and returns this error.
  Status describeMissing(const CallSite &site, const std::vector<int> &missing);

  const std::shared_ptr<ThreadRank> rank;
  const std::shared_ptr<GroupState> groupState;
  const int self; ///< index of the rank in the group
  ThreadJob &job;
  FlightRecorder &recorder;
  PendingPosts posts;
  /// Number of uses of the group's barrier in which this rank has taken part;
  /// every collective uses the barrier twice.
  uint64_t steps = 0;
  /// Buffers of all members in a reduction, by member index. They are data
  /// members so that their allocations are reused.
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  /// Messages that are pending, in the order in which they were posted. A
  /// mailbox holds one message, so only the first message of each peer can be
  /// transferred.
  std::vector<Pending> sends;
  std::vector<Pending> receives;
  Ticket newest = 0;       ///< latest ticket; tickets begin with 1
  int mismatchedPeer = -1; ///< member that sent a wrong size; -1 if none
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADGROUP_H
