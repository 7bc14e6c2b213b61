//===- MappingGuard.cpp - survives failures of mapped files ---------------===//

#include "runtime/base/MappingGuard.h"

#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace pcc::runtime {

using Range = MappingGuard::Range;

/// First element of the linked list of all Range objects. A Range object holds
/// the address and the size of one memory mapping. The SIGBUS handler uses the
/// list to find the mapping that contains a given address. After a MappingGuard
/// object is destroyed, its Range object stays in the list. takeRange() can
/// then return this Range object for another mapping.
static std::atomic<Range *> ranges{nullptr};
/// Mutex that a thread locks before it changes one of these variables:
///
/// - `ranges`, a linked list of Range objects, or a Range object in the list
/// - `previous`, the SIGBUS handler that was installed before onBusError()
/// - `pageSize`, the size of a page in bytes
///
/// Locking a mutex is not safe in a signal handler. The SIGBUS handler
/// onBusError() therefore reads these variables without locking the mutex. The
/// handler also sets the atomic flag Range::failed without locking the mutex.
static std::mutex rangesMutex;
/// The SIGBUS handler that the process had before onBusError() was installed.
static struct sigaction previous = {};
/// Size of a page in bytes.
static size_t pageSize = 0;

/// Returns the Range object of the memory mapping that contains `address`. A
/// Range object describes one mapping that a MappingGuard object protects from
/// SIGBUS. Returns null if no protected mapping contains `address`.
static Range *rangeOf(const std::byte *address) {
  for (Range *range = ranges.load(std::memory_order_acquire); range;
       range = range->next) {
    const std::byte *begin = range->begin.load(std::memory_order_acquire);
    if (begin && address >= begin && address < begin + range->size.load())
      return range;
  }
  return nullptr;
}

/// Replaces pages of a memory mapping by pages of zeros. onBusError() calls
/// this function after an access to a page of the mapping has failed. `range`
/// describes the mapping, and `address` is the address of the failed access.
///
/// The function replaces the page that contains `address` and all later pages
/// of the mapping. If the file was truncated, the file no longer contains the
/// later pages either. For example, a mapping has the pages 0 to 3, and
/// `address` is in page 1. The function replaces the pages 1, 2 and 3.
///
/// To replace the pages, the function calls mmap(), which maps zeroed memory at
/// the addresses of the pages. Returns true if mmap() succeeds, and false if
/// mmap() fails. In both cases the function sets `range.failed` to true.
static bool replace(Range &range, const std::byte *address) {
  const std::byte *const begin = range.begin.load();
  const size_t offset = size_t(address - begin) / pageSize * pageSize;
  range.failed.store(true, std::memory_order_release);
  return mmap(const_cast<std::byte *>(begin + offset),
              range.size.load() - offset, range.protection,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/// Calls `previous`, the SIGBUS handler that was installed before onBusError().
/// If there was none, restores the default action of SIGBUS. The thread then
/// repeats the failed access and raises SIGBUS again, and the default action
/// ends the process.
///
/// The function also restores the default action if `previous` has called
/// onBusError(). The two handlers would otherwise call each other forever.
static void passOn(int signal, siginfo_t *info, void *context) {
  static thread_local bool isPassing = false;
  const bool hasHandler =
      previous.sa_flags & SA_SIGINFO
          ? previous.sa_sigaction != nullptr
          : previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN;
  if (!hasHandler || isPassing) {
    ::signal(signal, SIG_DFL);
    return;
  }
  isPassing = true;
  if (previous.sa_flags & SA_SIGINFO)
    previous.sa_sigaction(signal, info, context);
  else
    previous.sa_handler(signal);
  isPassing = false;
}

/// Handles SIGBUS, which the kernel raises in a thread that accesses an
/// unreadable page of a mapped file. If a MappingGuard object protects the
/// mapping, the handler replaces the page and all later pages of the mapping by
/// pages of zeros. The thread then repeats the access and reads zeros. If no
/// object protects the mapping, or if the replacement fails, the handler calls
/// passOn().
///
/// The handler may call only functions that are safe in a signal handler.
/// mmap() is safe, because it is a plain system call.
static void onBusError(int signal, siginfo_t *info, void *context) {
  const int error = errno;
  Range *range = rangeOf(static_cast<const std::byte *>(info->si_addr));
  if (!range || !replace(*range, static_cast<const std::byte *>(info->si_addr)))
    passOn(signal, info, context);
  errno = error;
}

/// Installs onBusError() as the SIGBUS handler of the process, unless
/// onBusError() is installed already. Saves the replaced handler in `previous`.
/// Also sets `pageSize`.
///
/// MappingGuard calls this function whenever it starts to protect a mapping.
/// One call at the start of the process would not be enough, because another
/// library may install its own SIGBUS handler later.
static void install() {
  pageSize = size_t(sysconf(_SC_PAGESIZE));
  struct sigaction present = {};
  sigaction(SIGBUS, nullptr, &present);
  if (present.sa_flags & SA_SIGINFO && present.sa_sigaction == onBusError)
    return;
  previous = present;
  struct sigaction ours = {};
  ours.sa_sigaction = onBusError;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGBUS, &ours, nullptr);
}

/// Returns a free Range object. A Range object describes the addresses of one
/// guarded mapping. A Range object is free if it describes no mapping (`begin`
/// is null). If no object in the list `ranges` is free, allocates a new one and
/// adds it to the list.
static Range *takeRange() {
  Range *head = ranges.load(std::memory_order_relaxed);
  for (Range *range = head; range; range = range->next)
    if (!range->begin.load(std::memory_order_relaxed))
      return range;
  auto *made = new Range;
  made->next = head;
  ranges.store(made, std::memory_order_release);
  return made;
}

MappingGuard::MappingGuard(const void *data, size_t size, int protection) {
  const std::lock_guard lock(rangesMutex);
  install();
  assert(uintptr_t(data) % pageSize == 0 && "a mapping begins at a page");
  range = takeRange();
  range->size = size;
  range->protection = protection;
  range->failed = false;
  range->begin.store(static_cast<const std::byte *>(data),
                     std::memory_order_release);
}

void MappingGuard::release() {
  if (!range)
    return;
  const std::lock_guard lock(rangesMutex);
  range->begin.store(nullptr, std::memory_order_release);
  range = nullptr;
}

bool MappingGuard::hasFailed() const {
  return range && range->failed.load(std::memory_order_acquire);
}

} // namespace pcc::runtime
