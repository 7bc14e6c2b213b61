//===- GroupState.cpp - shared state of a group of threads ----------------===//

#include "runtime/comm/thread/GroupState.h"

namespace pcc::runtime {

/// Top bit of `arrivals`, the barrier's number of arrivals. If it is set, the
/// barrier is broken.
static constexpr uint64_t kBroken = uint64_t(1) << 63;

GroupState::GroupState(ThreadJob &sharedJob, std::vector<int> worldRanks)
    : members(std::move(worldRanks)), job(sharedJob),
      slots(std::make_unique<Slot[]>(members.size())) {}

bool GroupState::complete(uint64_t step) const {
  return (arrivals.load(std::memory_order_acquire) & ~kBroken) >=
         step * members.size();
}

bool GroupState::arrive(uint64_t step) {
  // If the barrier is broken, return false, and do not count the arrival. A
  // member breaks the barrier when it stops waiting for other members. The
  // member then reports an error to its caller. The caller may free the buffers
  // of the member, so no other member may access these buffers any longer.
  //
  // For example, members 0 and 1 of a group wait for member 2. Member 0 misses
  // its deadline, and breaks the barrier. Then member 2 arrives. The arrival of
  // member 2 is not counted, so member 1 also stops waiting. If the arrival
  // were counted, member 1 could find that all 3 members have arrived. Member 1
  // would then access the buffers of member 0, which may no longer exist.
  uint64_t before = arrivals.load(std::memory_order_acquire);
  do {
    if (before & kBroken)
      return false;
  } while (!arrivals.compare_exchange_weak(before, before + 1,
                                           std::memory_order_acq_rel));
  if (before + 1 == step * members.size())
    for (int rank : members)
      job.sleeper(rank).wake();
  return true;
}

/// Marks the barrier as broken, unless all members have arrived. All members
/// use the barrier again and again. The uses are numbered from 1. `step` is the
/// number of the use in which the caller waits. Once the barrier is broken, no
/// member waits at the barrier for other members any longer.
///
/// The integer `arrivals` has two parts. The top bit is set if the barrier is
/// broken. The lower 63 bits are the number of arrivals in all uses so far. For
/// example, a group has 4 members. All members have arrived in the third use if
/// the number is at least 12.
///
/// breakUnlessComplete() sets the top bit. arrive() adds 1 to the number,
/// unless the top bit is set. One thread can call breakUnlessComplete() while
/// the thread of the last missing member calls arrive(). Each function changes
/// `arrivals` by one atomic operation, so there are two cases:
///
/// - arrive() changes `arrivals` first. breakUnlessComplete() then finds that
///   all members have arrived. It does not set the top bit, and returns false.
/// - breakUnlessComplete() changes `arrivals` first, and returns true. arrive()
///   then finds the top bit. It does not add 1, and returns false.
bool GroupState::breakUnlessComplete(uint64_t step) {
  uint64_t seen = arrivals.load(std::memory_order_acquire);
  while ((seen & ~kBroken) < step * members.size())
    if (arrivals.compare_exchange_weak(seen, seen | kBroken,
                                       std::memory_order_acq_rel))
      return true;
  return false;
}

bool GroupState::enter(int index, uint64_t step, const MemberCall &call,
                       Clock::time_point deadline,
                       const std::function<void()> &advance) {
  slots[index].call = call;
  slots[index].arrivedFor.store(step, std::memory_order_release);
  if (!arrive(step))
    return false;
  auto decided = [&] {
    advance();
    return complete(step) || job.aborted() ||
           (arrivals.load(std::memory_order_acquire) & kBroken);
  };
  waitUntil(sleeperOf(index), job.oversubscribed(), deadline, decided);
  return complete(step) || !breakUnlessComplete(step);
}

void GroupState::leave(int index, uint64_t step) {
  arrive(step);
  waitUntil(sleeperOf(index), job.oversubscribed(), kNever,
            [&] { return complete(step); });
}

std::vector<int> GroupState::missing(uint64_t step) const {
  std::vector<int> ranks;
  for (size_t i = 0; i < members.size(); ++i)
    if (slots[i].arrivedFor.load(std::memory_order_acquire) < step)
      ranks.push_back(members[i]);
  return ranks;
}

Mailbox &GroupState::mailbox(int from, int to) {
  std::call_once(mailboxesMade, [&] {
    mailboxes = std::make_unique<Mailbox[]>(members.size() * members.size());
  });
  return mailboxes[size_t(from) * members.size() + to];
}

} // namespace pcc::runtime
