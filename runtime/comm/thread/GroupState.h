//===- GroupState.h - shared state of a group of threads ------------------===//
//
// A collective of threads needs no messages. Every member publishes pointers to
// its buffers, and all members then read and write the buffers of all members
// directly. Two barriers enclose this work:
//
//   enter: publish call and pointers, wait for all members
//   work:  read and write the buffers of all members
//   leave: wait until all members have finished
//
// The deadline and aborts apply to `enter` only. After `enter`, the remaining
// work is bounded, and no member may return while its buffers are in use.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_THREAD_GROUPSTATE_H
#define PCC_RUNTIME_COMM_THREAD_GROUPSTATE_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/thread/Sleeper.h"
#include "runtime/comm/thread/ThreadJob.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace pcc::runtime {

/// The arguments of one member's call of a collective. Except for pointers, all
/// members must pass equal arguments.
struct MemberCall {
  std::string_view name = {}; ///< such as "all_reduce"
  size_t size = 0;            ///< elements of a reduction, otherwise bytes
  ElementType type = ElementType::U8;                  ///< of a reduction
  dist::ReductionKind kind = dist::ReductionKind::Sum; ///< of a reduction
  int root = 0;             ///< of a broadcast: member index
  const void *in = nullptr; ///< borrowed until `leave`
  void *out = nullptr;      ///< borrowed until `leave`

  /// Returns whether this call and `other` are equal, except for the pointers
  /// `in` and `out`. Two calls are equal if they have equal names, sizes,
  /// types, kinds and roots. For example, an all-reduce of 10 elements matches
  /// another all-reduce of 10 elements in other buffers. An all-reduce of 10
  /// elements does not match an all-reduce of 20 elements.
  bool matches(const MemberCall &other) const {
    return name == other.name && size == other.size && type == other.type &&
           kind == other.kind && root == other.root;
  }
};

/// Memory for one message between two members of a group. The receiver copies
/// directly from the sender's memory. The sender may withdraw a message in
/// state Full, but must not free the memory of a message in state Taken.
///
///   Empty ── sender stores ──> Full ── receiver begins ──> Taken
///     ^                                                      │
///     └───────────────── receiver has copied ────────────────┘
struct Mailbox {
  enum State : uint32_t { Empty, Full, Taken };
  std::atomic<uint32_t> state{Empty};
  const void *data = nullptr; ///< the sender's memory; valid unless Empty
  size_t size = 0;            ///< bytes
};

/// State that all members of one group share: a barrier, the current call of
/// each member, and the mailboxes of messages. Thread-safe.
///
/// Each use of the barrier is a step. A collective uses two steps, and accesses
/// the members' buffers between them:
///
///   first collective    enter() is step 1, leave() is step 2
///   second collective   enter() is step 3, leave() is step 4
///
/// enter() has a deadline. If one member misses it, or if the run is aborted,
/// the barrier breaks: enter() fails on all members, now and later.
class GroupState {
public:
  /// Creates the state of a group. `worldRanks` lists the members of the group:
  /// member i is the world rank `worldRanks[i]`. A world rank is the number of
  /// a rank among all ranks of the run. `sharedJob` is the state that all ranks
  /// of the run share. `sharedJob` must outlive this object.
  GroupState(ThreadJob &sharedJob, std::vector<int> worldRanks);

  /// Returns the number of members.
  int size() const { return int(members.size()); }

  /// Begins a collective for member `index`, and blocks until all members have
  /// begun it. Stores `call`, the arguments of the member, for all members to
  /// read. `step` is the number of this use of the barrier, from 1, and is
  /// equal on all members. During the wait, calls `advance` repeatedly, which
  /// transfers the pending messages of this rank.
  ///
  /// Returns true if all members have called enter(). Returns false if the run
  /// is aborted, or if the deadline of a waiting member passes, before all
  /// members have called enter(). All later calls of enter() then return false,
  /// too. `deadline` is the deadline of member `index`.
  bool enter(int index, uint64_t step, const MemberCall &call,
             Clock::time_point deadline, const std::function<void()> &advance);
  /// Ends a collective for member `index`. Blocks until all members have called
  /// leave() for the same collective. The other members then no longer read or
  /// write the buffers of member `index`, so the caller may reuse or free these
  /// buffers.
  ///
  /// enter() and leave() use the same barrier. The uses of the barrier are
  /// numbered from 1. `step` is the number of this use. If the number for
  /// enter() was 3, the number for leave() is 4.
  void leave(int index, uint64_t step);

  /// Returns the arguments with which member `index` has called the current
  /// collective. enter() has stored them. A member may call callOf() only after
  /// its own enter() has returned true and before its own leave().
  const MemberCall &callOf(int index) const { return slots[index].call; }
  /// Returns the world ranks of the late members of a collective. A late member
  /// has not yet called enter() for the collective, so the other members wait
  /// for it. `step` is the number that the other members have passed to
  /// enter(). For example, members 0 and 1 have called enter() with the number
  /// 3. The latest call of member 2 had the number 1. missing(3) returns the
  /// world rank of member 2.
  std::vector<int> missing(uint64_t step) const;

  /// Returns the mailbox for messages from member `from` to member `to`. A
  /// mailbox is a slot for one message. The sender stores the address of the
  /// message in the slot, and the receiver copies the message from this
  /// address. Each pair of a sender and a receiver has its own mailbox. The
  /// first call of mailbox() allocates all mailboxes of the group.
  Mailbox &mailbox(int from, int to);
  /// Returns the object on which the thread of member `index` sleeps while it
  /// waits for other members. Another thread calls wake() of this object, for
  /// example after it has stored a message for member `index`.
  Sleeper &sleeperOf(int index) { return job.sleeper(members[index]); }

  /// World ranks of the members of the group. `members[i]` is the world rank of
  /// member i. A world rank is the number of a rank among all ranks of the run.
  const std::vector<int> members;

private:
  /// Data that one member writes, and that all members of the group read. The
  /// alignment of 64 bytes gives each Slot its own cache line. Otherwise the
  /// writes of one member would slow down the other members (false sharing).
  struct alignas(64) Slot {
    MemberCall call;
    /// Number that the member has passed as `step` to its latest call of
    /// enter(). A collective begins with enter() and ends with leave(). The
    /// calls are numbered: 1 for enter() and 2 for leave() in the first
    /// collective, 3 for enter() and 4 for leave() in the second. The value 0
    /// means that the member has not called enter() yet.
    ///
    /// missing() finds late members by this value. For example, other members
    /// wait in enter() with the number 3. A member with the value 1 is late.
    std::atomic<uint64_t> arrivedFor{0};
  };

  /// Counts the arrival of one member at the barrier. All members use the
  /// barrier again and again. The uses are numbered from 1. `step` is the
  /// number of this use. The last member that arrives wakes all other members.
  ///
  /// Returns false if the barrier is broken: a member has stopped waiting,
  /// because its deadline has passed or because the run was aborted.
  bool arrive(uint64_t step);
  /// Returns whether all members have arrived at the barrier. All members use
  /// the barrier again and again. The uses are numbered from 1. `step` is the
  /// number of the use for which the function checks the arrivals. A member
  /// arrives at the barrier by a call of enter() or leave().
  bool complete(uint64_t step) const;
  /// Marks the barrier as broken, unless all members have arrived. A member
  /// calls this function when it stops waiting for late members. All members
  /// use the barrier again and again. The uses are numbered from 1. `step` is
  /// the number of this use.
  ///
  /// Returns true if the barrier is marked as broken, false if all members have
  /// arrived. Once the barrier is marked, each later call of enter() returns
  /// false.
  bool breakUnlessComplete(uint64_t step);

  ThreadJob &job;
  std::unique_ptr<Slot[]> slots;
  /// Number of arrivals at the barrier since the group was created. A member
  /// arrives by a call of enter() or leave(). All members use the barrier again
  /// and again, and each use needs one arrival per member. For example, a group
  /// has 4 members. The first use is complete at 4 arrivals, and the third use
  /// is complete at 12 arrivals.
  ///
  /// The top bit is not part of the number. The top bit is set if the barrier
  /// is broken. Later arrivals are then not counted, and each later call of
  /// enter() returns false.
  std::atomic<uint64_t> arrivals{0};
  std::once_flag mailboxesMade;
  /// All mailboxes of the group; null before the first call of mailbox(). A
  /// mailbox is a slot for one message from one member to another. The mailbox
  /// from member `from` to member `to` has index `from` * size() + `to`. For
  /// example, a group has 4 members. The mailbox from member 1 to member 2 has
  /// index 6.
  std::unique_ptr<Mailbox[]> mailboxes;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_GROUPSTATE_H
