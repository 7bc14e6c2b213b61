//===- ThreadJob.cpp - shared state of a job whose ranks are threads ------===//

#include "runtime/comm/thread/ThreadJob.h"

#include "runtime/comm/thread/GroupState.h"

#include <thread>

namespace pcc::runtime {

ThreadJob::ThreadJob(int size)
    : numRanks(size),
      moreRanksThanCores(size > int(std::thread::hardware_concurrency())),
      sleepers(std::make_unique<Sleeper[]>(size)) {}

ThreadJob::~ThreadJob() = default;

void ThreadJob::abort(const Status &reason) {
  {
    std::lock_guard lock(mutex);
    if (aborted())
      return;
    reasonOfAbort = reason;
    over.store(true, std::memory_order_release);
  }
  for (int rank = 0; rank < numRanks; ++rank)
    sleepers[rank].wake();
}

Status ThreadJob::abortReason() const {
  std::lock_guard lock(mutex);
  return reasonOfAbort;
}

std::shared_ptr<GroupState>
ThreadJob::groupState(size_t number, const std::vector<int> &members) {
  std::lock_guard lock(mutex);
  if (number >= groupStates.size())
    groupStates.resize(number + 1);
  if (!groupStates[number])
    groupStates[number] = std::make_shared<GroupState>(*this, members);
  return groupStates[number]->members == members ? groupStates[number]
                                                 : nullptr;
}

} // namespace pcc::runtime
