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
#include <memory>
#include <mutex>
#include <vector>

namespace pcc::runtime {

/// One member's arguments of a collective. Everything except the pointers must
/// be equal on all members.
struct MemberCall {
  std::string_view name = {}; ///< such as "all_reduce"
  size_t size = 0;            ///< elements of a reduction, otherwise bytes
  ElementType type = ElementType::U8;                  ///< of a reduction
  dist::ReductionKind kind = dist::ReductionKind::Sum; ///< of a reduction
  int root = 0;             ///< of a broadcast: member index
  const void *in = nullptr; ///< borrowed until `leave`
  void *out = nullptr;      ///< borrowed until `leave`

  /// Returns whether both calls are the same collective with the same sizes.
  bool matches(const MemberCall &other) const {
    return name == other.name && size == other.size && type == other.type &&
           kind == other.kind && root == other.root;
  }
};

/// Slot for one message at a time from one member to another. The receiver
/// copies directly from the sender's memory.
///
///   Empty ──sender offers── Full ──receiver claims── Taken ──copied── Empty
///
/// The sender may also withdraw the message (Full to Empty), but must wait
/// while the state is Taken.
struct Mailbox {
  enum State : uint32_t { Empty, Full, Taken };
  std::atomic<uint32_t> state{Empty};
  const void *data = nullptr; ///< the sender's memory; valid unless Empty
  size_t size = 0;            ///< bytes
};

/// The state that all members of one group share: a reusable barrier, the calls
/// of all members, and the mailboxes. Thread-safe. Members are addressed by
/// their index in the group.
///
/// The barrier counts steps from 1; every collective uses two steps, one for
/// enter() and one for leave(). Once a member has given up in a step, the
/// barrier is broken for good, and enter() fails on all members.
class GroupState {
public:
  /// `worldRanks` are the members in group order. `sharedJob` must outlive this
  /// object.
  GroupState(ThreadJob &sharedJob, std::vector<int> worldRanks);

  /// Returns the number of members.
  int size() const { return int(members.size()); }

  /// Publishes member `index`'s call, and blocks until all members have arrived
  /// in step `step`. Returns false if not all have arrived by the deadline, or
  /// if the run has been aborted. All members get the same result, because the
  /// first member that gives up breaks the barrier.
  bool enter(int index, uint64_t step, const MemberCall &call,
             Clock::time_point deadline);
  /// Blocks, without a deadline, until all members have arrived in step `step`.
  /// Afterwards this member's buffers are not in use any more.
  void leave(int index, uint64_t step);

  /// Returns the call that a member has published. Valid between enter() and
  /// leave().
  const MemberCall &callOf(int index) const { return slots[index].call; }
  /// Returns the world ranks of the members that have not entered step `step`.
  std::vector<int> missing(uint64_t step) const;

  /// Returns the mailbox for messages from member `from` to member `to`.
  /// Allocates all mailboxes of the group at the first call.
  Mailbox &mailbox(int from, int to);
  /// Returns the sleeper of a member's thread.
  Sleeper &sleeperOf(int index) { return job.sleeper(members[index]); }

  /// World ranks of the members, in group order.
  const std::vector<int> members;

private:
  /// Data that one member publishes. Each slot has a cache line of its own, to
  /// avoid false sharing.
  struct alignas(64) Slot {
    MemberCall call;
    /// Latest step that the member has entered.
    std::atomic<uint64_t> arrivedFor{0};
  };

  /// Counts an arrival in step `step`. The last arrival wakes all members.
  /// Returns false if the barrier is broken.
  bool arrive(uint64_t step);
  /// Returns whether all members have arrived in step `step`.
  bool complete(uint64_t step) const;
  /// Breaks the barrier, unless all members have arrived in step `step`.
  /// Returns whether the barrier is broken.
  bool breakUnlessComplete(uint64_t step);

  ThreadJob &job;
  std::unique_ptr<Slot[]> slots;
  /// Number of arrivals in all steps so far. Step s is complete when the number
  /// is at least s * size(). The top bit is set if the barrier is broken.
  std::atomic<uint64_t> arrivals{0};
  std::once_flag mailboxesMade;
  /// One mailbox per ordered pair of members: index from * size() + to.
  std::unique_ptr<Mailbox[]> mailboxes;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_GROUPSTATE_H
