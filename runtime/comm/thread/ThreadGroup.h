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

/// Group object of one rank, for a group (fixed, ordered set) of ranks. The
/// members of the group are threads of this process. A collective, such as an
/// all-reduce, reads and writes the buffers of all members directly.
///
/// A message passes through a mailbox. A mailbox is a slot for one message from
/// one member to another member. The sender stores the address of the message
/// in the mailbox. The receiver then copies the message from this address.
///
/// The lists `sends` and `receives` contain all messages of this rank that are
/// not yet completely transferred. For example, this rank posts two messages to
/// the same member. The first message is in the mailbox. The second message
/// waits in the list `sends` until the receiver has copied the first message.
class ThreadGroup final : public Group {
public:
  /// Creates one rank's object for a group of ranks.
  ///
  /// - `owner`: state that all groups of this rank share.
  /// - `place`: state that all members of this group share, such as the
  ///   mailboxes for messages.
  /// - `ownIndex`: index of this rank among the members of the group.
  ThreadGroup(std::shared_ptr<ThreadRank> owner,
              std::shared_ptr<GroupState> place, int ownIndex);
  /// Cancels all messages of this rank in this group that are not yet
  /// completely transferred. If another rank is copying a message from this
  /// rank, the destructor waits until the copy is complete. After the
  /// destructor returns, the caller may free the memory of the messages.
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

  /// Returns whether message `index` of `list` is the earliest message of the
  /// list with its peer. The peer is the other rank of the message. For
  /// example, a list contains messages with peers 2, 5 and 2. The function
  /// returns true for the indices 0 and 1, and false for index 2.
  static bool isFirstOfPeer(const std::vector<Pending> &list, size_t index);
  /// Calls `moved` for messages of `list`. `moved` returns whether a message
  /// has been transferred. If `moved` returns true, drop() removes the message
  /// from the list.
  ///
  /// Messages with the same peer (other rank) must be transferred in order.
  /// `moved` is therefore called for a message only if the list contains no
  /// earlier message with the same peer. For example, a list contains messages
  /// with peers 2, 5 and 2. If `moved` returns false for the first message,
  /// drop() does not call `moved` for the third message.
  template <typename Moved>
  static void drop(std::vector<Pending> &list, Moved moved);
  /// Puts a message into the mailbox for its receiver, and wakes the thread of
  /// the receiver. A mailbox is a slot for one message from one member to
  /// another. The function stores the address and the size of the message in
  /// the mailbox. The receiver later copies the message from this address.
  /// `pending` is an element of the list `sends`. The mailbox must be empty.
  void offer(Pending &pending);
  /// Puts the earliest message for each peer (other rank) into a mailbox. A
  /// mailbox is a slot for one message from this rank to one peer. Later
  /// messages for the same peer stay in the list `sends` until the peer has
  /// copied the earlier message. The function skips a message that an earlier
  /// call has put into the mailbox.
  void publish();
  /// Receives one message, and copies the message to the memory of this rank.
  /// `piece` contains the sender, the address of this memory and the expected
  /// size of the message. Returns false if the sender has not yet put a message
  /// into the mailbox from the sender to this rank.
  ///
  /// If the message has another size than `piece`, the function copies nothing.
  /// The function then stores the sender in `mismatchedPeer`, and returns true.
  bool receive(const PeerBuffer &piece);
  /// Returns whether another rank has copied a message of this rank. offer()
  /// has put the message into a mailbox, which is a slot for one message from
  /// this rank to the other rank. The other rank first copies the message, and
  /// then empties the mailbox. The function returns true if the mailbox is
  /// empty. `piece` describes the message. The function only reads
  /// `piece.peer`, which is the index of the other rank in the group.
  bool wasTaken(const PeerBuffer &piece) const;
  /// Returns whether all messages of `tickets` (handles of post() calls) are
  /// transferred.
  bool isComplete(std::span<const Ticket> tickets) const;
  /// Returns the world ranks with which this rank has unfinished messages, in
  /// ascending order. `tickets` are handles of post() calls. Only messages of
  /// these calls count. For example, the result {1, 3} means: messages to or
  /// from the ranks 1 and 3 are not yet completely transferred.
  std::vector<int> missing(std::span<const Ticket> tickets) const;
  /// Cancels all messages of this rank in this group that are not yet
  /// completely transferred. If another rank is copying a message from this
  /// rank, the function blocks until the copy is complete. After the function
  /// returns, no other rank reads the memory of these messages. The memory may
  /// then be freed.
  void withdraw();

  /// Executes one collective, such as an all-reduce, which all members must
  /// call. Waits until all members have stored their `call` (name and
  /// arguments). Then calls `work`, which may read and write the buffers of all
  /// members. Then waits until all members have completed `work`, so no other
  /// member accesses this rank's buffers afterwards.
  ///
  /// Ends the run with an error if the first wait is too long, or if the calls
  /// of two members do not match. `work` is then not called. `action` is the
  /// work for which this rank communicates, for error messages.
  template <typename Work>
  Status together(const MemberCall &call, const ActionId &action, Work work);
  /// Returns the description of one call of a function of this group. Error
  /// messages contain the description. `call` is the name of the function, such
  /// as "all_reduce". `action` is the work for which this rank communicates: a
  /// schedule action and a tensor. The description refers to `call` and
  /// `action`, so both must outlive the description.
  CallSite siteOf(std::string_view call, const ActionId &action) const;
  /// Returns the time at which a wait that begins now must end.
  Clock::time_point deadline() const;
  /// Ends the run on all ranks with the error `reason`, and returns `reason`.
  /// There is one exception: the run may already have been ended, for example
  /// by another rank. The function then only returns the error with which the
  /// run was ended.
  Status endRun(const Status &reason);
  /// Adds an entry to the flight recorder, which is a log of the latest
  /// activities of a rank. The entry states that this rank waits for the ranks
  /// `peers`. The numbers in `peers` are the numbers of the ranks among all
  /// ranks of the run. If `peers` contains this rank itself, the function omits
  /// this rank. `site` describes the call that waits, such as an all-reduce.
  ///
  /// Returns the index of the entry. The caller passes the index to
  /// FlightRecorder::end() when the wait has succeeded.
  FlightRecorder::Entry beginWait(const CallSite &site,
                                  std::span<const int> peers);
  /// Replaces the list of ranks in `entry`. `entry` is an entry of the flight
  /// recorder (log of a rank's latest activities). The entry states that this
  /// rank waits for other ranks. The new list contains the world ranks
  /// `missing`, for which this rank is still waiting. If `missing` contains
  /// this rank itself, the function omits it.
  void noteMissing(FlightRecorder::Entry entry, std::span<const int> missing);
  /// Returns the error of a wait that has failed. `site` describes the call
  /// that waited. `missing` are the world ranks for which the call was still
  /// waiting. There are two cases:
  ///
  /// - The run has already been ended, for example by an error of another rank.
  ///   The function returns the error that ended the run.
  /// - A deadline has passed. The function ends the run on all ranks with an
  ///   error that lists the ranks `missing`. If another rank ends the run
  ///   first, the function returns the error of that rank.
  Status describeMissing(const CallSite &site, const std::vector<int> &missing);

  const std::shared_ptr<ThreadRank> rank;
  const std::shared_ptr<GroupState> groupState;
  const int self; ///< index of the rank in the group
  ThreadJob &job;
  FlightRecorder &recorder;
  PendingPosts posts;
  /// Number of steps that this rank has begun in this group. A step is one use
  /// of the group's barrier. A collective, such as an all-reduce, uses the
  /// barrier twice: at the beginning and at the end of the collective. For
  /// example, `steps` is 6 after three collectives.
  uint64_t steps = 0;
  /// Addresses of the buffers of all members in an all-reduce. inputs[i] is the
  /// input buffer and outputs[i] is the output buffer of member i of the group.
  /// The two vectors are data members, so that every call of allReduce() reuses
  /// the memory of the vectors.
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  /// Messages that this rank sends (`sends`) and receives (`receives`), in the
  /// order of the post() calls. A message is removed from its list when the
  /// message has been transferred. In each list, messages with the same peer
  /// (other rank) are transferred one after another, in the order of the list.
  std::vector<Pending> sends;
  std::vector<Pending> receives;
  Ticket newest = 0;       ///< latest ticket; tickets begin with 1
  int mismatchedPeer = -1; ///< member that sent a wrong size; -1 if none
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADGROUP_H
