//===- GroupState.h - the memory that the members of one group share ------===//
//
// A call publishes pointers, waits until all members have published theirs,
// works directly on everybody's memory, and waits until all have finished:
//
//   enter: call, pointers → all here? → work on all members' memory → leave
//
// Deadline and abort apply to `enter` only: once all have arrived, the rest is
// bounded work, and no member may go away with its memory in use.
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

/// What a member does; all but the pointers must be equal on all members.
struct MemberCall {
  std::string_view name = {};
  size_t size = 0; ///< elements of a reduction, else bytes
  ElementType type = ElementType::U8;
  Reduction kind = Reduction::Sum;
  int root = 0;
  const void *in = nullptr;
  void *out = nullptr;

  bool matches(const MemberCall &other) const {
    return name == other.name && size == other.size && type == other.type &&
           kind == other.kind && root == other.root;
  }
};

/// Carries one piece at a time from one member to another.
struct Mailbox {
  enum State : uint32_t { Empty, Full, Taken };
  std::atomic<uint32_t> state{Empty};
  const void *data = nullptr;
  size_t size = 0;
};

class GroupState {
public:
  GroupState(ThreadJob &sharedJob, std::vector<int> worldRanks);

  int size() const { return int(members.size()); }

  /// Arrives as `index`, and waits until all have arrived for the `step`-th
  /// time. False if that did not happen by the deadline or the run is over;
  /// then nobody will ever complete this step.
  bool enter(int index, uint64_t step, const MemberCall &call,
             Clock::time_point deadline);
  /// The second half of a call: no deadline.
  void leave(int index, uint64_t step);

  const MemberCall &callOf(int index) const { return slots[index].call; }
  /// World ranks that have not arrived for `step`.
  std::vector<int> missing(uint64_t step) const;

  Mailbox &mailbox(int from, int to);
  Sleeper &sleeperOf(int index) { return job.sleeper(members[index]); }

  const std::vector<int> members;

private:
  /// One member's; each on its own cache line.
  struct alignas(64) Slot {
    MemberCall call;
    std::atomic<uint64_t> arrivedFor{0};
  };

  bool arrive(uint64_t step);
  bool complete(uint64_t step) const;
  bool breakUnlessComplete(uint64_t step);

  ThreadJob &job;
  std::unique_ptr<Slot[]> slots;
  /// Arrivals so far; step s is complete from s * size() on. The top bit says
  /// that a member has gone for good before a step was complete.
  std::atomic<uint64_t> arrivals{0};
  std::once_flag mailboxesMade;
  std::unique_ptr<Mailbox[]> mailboxes;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_GROUPSTATE_H
