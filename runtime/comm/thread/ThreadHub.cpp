//===- ThreadHub.cpp - what the ranks of one process share ----------------===//

#include "runtime/comm/thread/ThreadHub.h"

#include "runtime/comm/thread/Meeting.h"

#include <thread>

namespace pcc::runtime {

ThreadHub::ThreadHub(int size)
    : numRanks(size),
      moreRanksThanCores(size > int(std::thread::hardware_concurrency())),
      parkers(std::make_unique<Parker[]>(size)) {}

ThreadHub::~ThreadHub() = default;

void ThreadHub::abort(const Status &reason) {
  {
    std::lock_guard lock(mutex);
    if (aborted())
      return;
    reasonOfAbort = reason;
    over.store(true, std::memory_order_release);
  }
  for (int rank = 0; rank < numRanks; ++rank)
    parkers[rank].wake();
}

Status ThreadHub::abortReason() const {
  std::lock_guard lock(mutex);
  return reasonOfAbort;
}

std::shared_ptr<Meeting> ThreadHub::meeting(size_t number,
                                            const std::vector<int> &members) {
  std::lock_guard lock(mutex);
  if (number >= meetings.size())
    meetings.resize(number + 1);
  if (!meetings[number])
    meetings[number] = std::make_shared<Meeting>(*this, members);
  return meetings[number]->members == members ? meetings[number] : nullptr;
}

} // namespace pcc::runtime
