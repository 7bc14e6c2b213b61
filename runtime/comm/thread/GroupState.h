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

  /// Returns whether this call and `other` are the same collective, with equal
  /// arguments except for pointers.
  bool matches(const MemberCall &other) const {
    return name == other.name && size == other.size && type == other.type &&
           kind == other.kind && root == other.root;
  }
};

/// Slot for one message from one member to another. The receiver copies
/// directly from the sender's memory. States of the slot:
///
///   Empty   no message
///   Full    the sender has stored the address and the size of its message
///   Taken   the receiver is copying the message
///
///   Empty ── sender stores ──> Full ── receiver begins ──> Taken
///     ^                                                      │
///     └───────────────── receiver has copied ────────────────┘
///
/// The sender may withdraw a message (Full to Empty). It must not free the
/// memory in state Taken.
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
  /// Creates the state of the group whose members are `worldRanks`, in group
  /// order. `sharedJob` must outlive this object.
  GroupState(ThreadJob &sharedJob, std::vector<int> worldRanks);

  /// Returns the number of members.
  int size() const { return int(members.size()); }

  /// Stores `call`, the call of member `index`, for all members to read. Blocks
  /// until all members have entered barrier step `step`. Calls `advance`, which
  /// transfers messages, repeatedly while it waits. If a member misses
  /// `deadline`, or if the run is aborted, returns false on all members.
  bool enter(int index, uint64_t step, const MemberCall &call,
             Clock::time_point deadline, const std::function<void()> &advance);
  /// Blocks until all members have arrived in barrier step `step`. No other
  /// member accesses the buffers of member `index` afterwards.
  void leave(int index, uint64_t step);

  /// Returns the call that member `index` has published. Valid between enter()
  /// and leave().
  const MemberCall &callOf(int index) const { return slots[index].call; }
  /// Returns the world ranks of the members that have not arrived in barrier
  /// step `step`.
  std::vector<int> missing(uint64_t step) const;

  /// Returns the mailbox for messages from member `from` to member `to`. The
  /// first call allocates all mailboxes.
  Mailbox &mailbox(int from, int to);
  /// Returns the object on which the thread of member `index` sleeps.
  Sleeper &sleeperOf(int index) { return job.sleeper(members[index]); }

  /// World ranks of the members, in group order.
  const std::vector<int> members;

private:
  /// Data that one member publishes to the group. A cache line of its own
  /// avoids false sharing.
  struct alignas(64) Slot {
    MemberCall call;
    /// Latest barrier step that the slot's member has entered.
    std::atomic<uint64_t> arrivedFor{0};
  };

  /// Counts the arrival of one member in barrier step `step`, and wakes all
  /// members at the last arrival. Returns false if the barrier is broken.
  bool arrive(uint64_t step);
  /// Returns whether all members have arrived in barrier step `step`.
  bool complete(uint64_t step) const;
  /// Breaks the barrier, unless step `step` is complete. Returns whether the
  /// barrier is broken.
  bool breakUnlessComplete(uint64_t step);

  ThreadJob &job;
  std::unique_ptr<Slot[]> slots;
  /// Number of arrivals in all barrier steps so far. Step s (from 1) is
  /// complete at s * size() arrivals. The top bit means that the barrier is
  /// broken.
  std::atomic<uint64_t> arrivals{0};
  std::once_flag mailboxesMade;
  /// One mailbox per ordered pair of members, at index from * size() + to.
  std::unique_ptr<Mailbox[]> mailboxes;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_GROUPSTATE_H
