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

/// Marks the barrier as broken, unless all members have arrived for its use
/// number `step`, counted from 1. The top bit of `arrivals` is set if the
/// barrier is broken. The lower 63 bits are the number of arrivals in all uses
/// so far.
///
/// The last missing member may call arrive() at the same time. Both functions
/// must change `arrivals` by one atomic operation, so that exactly one of them
/// returns true: either the barrier is broken, or all members have arrived.
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
