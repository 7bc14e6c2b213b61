//===- WatchedCalls.h - detection of library calls that do not return -----===//
//
// A CUDA or NCCL call can block forever, for instance because the driver's
// queue is full and the kernel at its head waits for a lost peer. The blocked
// thread cannot check a deadline itself. The library's functions are therefore
// wrapped to count calls, and another thread reads the counters
// (SocketRendezvous::isStuck).
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_BASE_WATCHEDCALLS_H
#define PCC_RUNTIME_BASE_WATCHEDCALLS_H

#include <atomic>
#include <cstdint>

namespace pcc::runtime {

/// Two counters of the calls of this process to functions of CUDA and NCCL.
/// `begun` is the number of calls that have begun, and `ended` is the number of
/// calls that have returned. For example:
///
///   begun   ended
///     7       7     Each of the 7 calls has returned.
///     8       7     The eighth call has begun and has not returned yet.
///
/// A watchdog thread reads the counters repeatedly. If the counters stay at 8
/// and 7 for longer than a deadline, the watchdog thread reports that the
/// eighth call hangs.
struct WatchedCalls {
  std::atomic<uint64_t> begun{0}, ended{0};
};
/// Numbers of library calls that this process has begun and ended. Only calls
/// of functions that watchCalls() has wrapped are counted. These functions
/// belong to NCCL and to the CUDA libraries.
inline WatchedCalls watchedCalls;

/// Replaces a function pointer in `table` by a wrapper that counts the calls of
/// the function. The counters are in `watchedCalls`. `table` is a struct of
/// pointers to the functions of one library, such as CudaDriver. `member` is,
/// for example, &CudaDriver::cuLaunchKernel. The second parameter serves only
/// to deduce the types `Result` and `Arguments`.
///
/// The original pointer is kept in a static variable, which all objects of the
/// type `Table` share. Their original pointers must therefore be equal.
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

/// Replaces one function pointer in `table` by a wrapper that counts the calls
/// of the function. `table` is a struct of pointers to the functions of one
/// library, such as CudaDriver. `member` selects the function pointer, for
/// example &CudaDriver::cuLaunchKernel. The wrapper increments
/// watchedCalls.begun, calls the library function, and then increments
/// watchedCalls.ended.
template <auto member, typename Table> void watchCalls(Table &table) {
  watchCalls<member>(table, member);
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_WATCHEDCALLS_H
