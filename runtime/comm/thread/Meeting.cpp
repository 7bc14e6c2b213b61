//===- Meeting.cpp - the memory that the members of one group share -------===//

#include "runtime/comm/thread/Meeting.h"

namespace pcc::runtime {

static constexpr uint64_t kBroken = uint64_t(1) << 63;

Meeting::Meeting(ThreadHub &sharedHub, std::vector<int> worldRanks)
    : members(std::move(worldRanks)), hub(sharedHub),
      places(std::make_unique<Place[]>(members.size())) {}

bool Meeting::complete(uint64_t step) const {
  return (arrivals.load(std::memory_order_acquire) & ~kBroken) >=
         step * members.size();
}

/// Counts this member in and wakes the others if it is the last. False if the
/// meeting is broken.
bool Meeting::arrive(uint64_t step) {
  const uint64_t before = arrivals.fetch_add(1, std::memory_order_acq_rel);
  if (before & kBroken)
    return false;
  if (before + 1 == step * members.size())
    for (int rank : members)
      hub.parker(rank).wake();
  return true;
}

/// Decides between "all arrived" and "one has left" for all members alike.
bool Meeting::breakUnlessComplete(uint64_t step) {
  uint64_t seen = arrivals.load(std::memory_order_acquire);
  while ((seen & ~kBroken) < step * members.size())
    if (arrivals.compare_exchange_weak(seen, seen | kBroken,
                                       std::memory_order_acq_rel))
      return true;
  return false;
}

bool Meeting::enter(int index, uint64_t step, const MemberCall &call,
                    Clock::time_point deadline) {
  places[index].call = call;
  places[index].arrivedFor.store(step, std::memory_order_release);
  if (!arrive(step))
    return false;
  auto decided = [&] {
    return complete(step) || hub.aborted() ||
           (arrivals.load(std::memory_order_acquire) & kBroken);
  };
  waitUntil(parkerOf(index), hub.crowded(), deadline, decided);
  return complete(step) || !breakUnlessComplete(step);
}

void Meeting::leave(int index, uint64_t step) {
  arrive(step);
  waitUntil(parkerOf(index), hub.crowded(), kNever,
            [&] { return complete(step); });
}

std::vector<int> Meeting::missing(uint64_t step) const {
  std::vector<int> ranks;
  for (size_t i = 0; i < members.size(); ++i)
    if (places[i].arrivedFor.load(std::memory_order_acquire) < step)
      ranks.push_back(members[i]);
  return ranks;
}

Mailbox &Meeting::mailbox(int from, int to) {
  std::call_once(mailboxesMade, [&] {
    mailboxes = std::make_unique<Mailbox[]>(members.size() * members.size());
  });
  return mailboxes[size_t(from) * members.size() + to];
}

} // namespace pcc::runtime
