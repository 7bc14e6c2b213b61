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
  // Must not count an arrival at a broken barrier: a member that has not yet
  // seen the break would take the step for complete.
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

/// Sets the top bit of `arrivals`, which means that the barrier is broken. The
/// other bits of `arrivals` are the number of arrivals so far. arrive() adds 1
/// to this number, unless the top bit is set. Both functions change `arrivals`
/// by an atomic operation, so one of them is first:
///
/// - If the last member arrives first, breakUnlessComplete() finds that all
///   members have arrived. It does not set the bit, and returns false.
/// - If breakUnlessComplete() sets the bit first, arrive() finds the bit when
///   the last member arrives, and returns false to this member.
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
