//===- WatchedCalls.h - calls that may never return -----------------------===//
//
// The driver of a GPU blocks who gives it too much, and what it waits for may
// never happen. A thread that is inside cannot look at the clock; another one
// sees here that it does not come back.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_BASE_WATCHEDCALLS_H
#define PCC_RUNTIME_BASE_WATCHEDCALLS_H

#include <atomic>
#include <cstdint>

namespace pcc::runtime {

/// Calls of this process into libraries that are watched. Somebody has been
/// inside all the time if `begun` is greater than `ended`, and stays as it was.
struct WatchedCalls {
  std::atomic<uint64_t> begun{0}, ended{0};
};
inline WatchedCalls watchedCalls;

/// From now on calls of one function of a table of pointers are watched, for
/// instance watchCalls<&CudaDriver::cuLaunchKernel>(driver). All tables of a
/// process must have found the same function. Costs a few nanoseconds a call.
template <auto member, typename Table, typename Result, typename... Arguments>
void watchCalls(Table &table, Result (*Table::*)(Arguments...)) {
  static std::atomic<Result (*)(Arguments...)> real;
  real.store(table.*member, std::memory_order_relaxed);
  table.*member = [](Arguments... arguments) -> Result {
    struct Inside {
      Inside() { watchedCalls.begun.fetch_add(1, std::memory_order_relaxed); }
      ~Inside() { watchedCalls.ended.fetch_add(1, std::memory_order_relaxed); }
    } inside;
    return real.load(std::memory_order_relaxed)(arguments...);
  };
}

template <auto member, typename Table> void watchCalls(Table &table) {
  watchCalls<member>(table, member);
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_WATCHEDCALLS_H
