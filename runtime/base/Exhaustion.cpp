//===- Exhaustion.cpp - errors for exhausted memory and threads -----------===//

#include "runtime/base/Exhaustion.h"

#include "runtime/base/ScopedFolder.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <execinfo.h>
#include <filesystem>
#include <fstream>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace pcc::runtime {

/// Function that reports an error to the user. reportExhaustion() sets this
/// pointer. If an exception is not caught, the C++ runtime calls the terminate
/// handler endWithError(). endWithError() converts the exception into a Status
/// object, and calls this function with the Status object. A Status object
/// holds an exit code and a message. endWithError() then ends the process.
static void (*reporter)(const Status &) = nullptr;

namespace {
/// Memory that is reserved for the report of an error when all other memory is
/// exhausted.
struct Reserve {
  std::array<char, 1 << 22> bytes;
};
} // namespace

/// The reserved memory; null if there is none, or if it has been freed for the
/// report of an error. Atomic, because several threads may run out of memory at
/// the same time.
static std::atomic<Reserve *> reserve = nullptr;

/// Returns the size of this process's address space in MiB; 0 if unknown.
static long usedMebibytes() {
  long pages = 0;
  std::array<char, 32> text = {};
  if (std::FILE *file = std::fopen("/proc/self/statm", "re")) {
    if (std::fgets(text.data(), text.size(), file))
      pages = std::strtol(text.data(), nullptr, 10);
    std::fclose(file);
  }
  return pages * (sysconf(_SC_PAGESIZE) / 1024) / 1024;
}

std::string describeMemory() {
  rlimit limit = {};
  std::string note = "the process uses " + std::to_string(usedMebibytes()) +
                     " MiB of address space";
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    note += ", and may use " + std::to_string(limit.rlim_cur >> 20) +
            " MiB (ulimit -v)";
  if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    note += ", of which data may have " + std::to_string(limit.rlim_cur >> 20) +
            " MiB (ulimit -d)";
  return note;
}

Status outOfMemory() {
  return Status::error(NoDevice, "out of memory", {describeMemory()});
}

/// Returns the number of processes and threads that the user of this process
/// runs. The system counts each thread of a process.
static long countThreads() {
  long count = 0;
  std::error_code error;
  for (const auto &entry :
       std::filesystem::directory_iterator("/proc", error)) {
    std::ifstream file(entry.path() / "status");
    long threads = 0, user = -1;
    for (std::string key, rest; file >> key && std::getline(file, rest);) {
      if (key == "Uid:")
        user = std::strtol(rest.c_str(), nullptr, 10);
      else if (key == "Threads:")
        threads = std::strtol(rest.c_str(), nullptr, 10);
    }
    if (user == long(getuid()))
      count += threads;
  }
  return count;
}

Status withProcessLimit(Status status) {
  constexpr rlim_t enough = 64;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return status;
  const long count = countThreads();
  if (limit.rlim_cur >= rlim_t(count) + enough)
    return status;
  return status.addNote("the user runs " + std::to_string(count) +
                        " processes and threads, and may run " +
                        std::to_string(limit.rlim_cur) + " (ulimit -u)");
}

Status cannotStart(const std::string &claim, int error) {
  Status status = Status::error(NoDevice, claim + ": " + std::strerror(error));
  if (error == EAGAIN && isMemoryLimited())
    status.addNote(describeMemory());
  return error == EAGAIN ? withProcessLimit(std::move(status)) : status;
}

/// Returns whether this process cannot get another `bytes` bytes of memory.
static bool lacks(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return true;
  munmap(memory, bytes);
  return false;
}

bool isMemoryExhausted() {
  constexpr size_t mebibyte = 1 << 20;
  return lacks(mebibyte);
}

bool isMemoryLimited() {
  rlimit space = {}, data = {};
  return (getrlimit(RLIMIT_AS, &space) == 0 &&
          space.rlim_cur != RLIM_INFINITY) ||
         (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY);
}

/// Number of bytes of a stack that are written to before memory runs out.
static constexpr size_t stackBytes = 1 << 20;

/// Writes to each page of `stackBytes` bytes of the stack.
[[gnu::noinline]] static void growStack() {
  constexpr size_t page = 4096;
  volatile char bytes[stackBytes];
  for (size_t i = 0; i < stackBytes; i += page)
    bytes[i] = 0;
}

void prepareForExhaustion() {
  if (!isMemoryLimited())
    return;
  void *frame = nullptr;
  (void)backtrace(&frame, 1);
  rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= 2 * stackBytes)
    growStack();
}

Status errorOfException() {
  try {
    if (const std::exception_ptr current = std::current_exception())
      std::rethrow_exception(current);
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::system_error &problem) {
    if (problem.code() == std::errc::resource_unavailable_try_again)
      return cannotStart("cannot start a thread", EAGAIN);
    return Status::error(NoDevice,
                         std::string("the system refuses a resource: ") +
                             problem.what(),
                         {"the limits of the system are shown by ulimit -a"});
  } catch (const std::exception &problem) {
    return Status::error(Defect,
                         std::string("a defect of pcc: ") + problem.what());
  } catch (...) {
    return Status::error(Defect, "a defect of pcc: an unknown exception");
  }
  return Status::error(Defect, "a defect of pcc: std::terminate() was called");
}

void releaseReservedMemory() { delete reserve.exchange(nullptr); }

[[noreturn]] static void endWith(const Status &status) {
  reporter(status);
  ScopedFolder::removeAll();
  _exit(status.code());
}

[[noreturn]] static void endWithError() {
  releaseReservedMemory();
  endWith(errorOfException());
}

/// Handles SIGSEGV and SIGABRT, which may mean that memory is exhausted. Some
/// libraries, such as oneDNN's code generator, do not check whether an
/// allocation has failed, and then write to a null pointer, or abort. Their
/// allocations have at most a few dozen MiB, but glibc reserves 128 MiB for the
/// heap of a thread. If the process can no longer get 128 MiB, the function
/// reports that memory is exhausted and ends the process. Otherwise, it
/// restores the default action of `signal` and returns. The thread then repeats
/// the failed access, or abort() raises the signal again, and the default
/// action ends the process.
static void onCrash(int signal) {
  constexpr size_t largest = 128 << 20;
  std::signal(signal, SIG_DFL);
  if (!lacks(largest))
    return;
  releaseReservedMemory();
  endWith(outOfMemory());
}

void reportExhaustion(void (*report)(const Status &)) {
  reporter = report;
  std::set_terminate(endWithError);
  releaseReservedMemory();
  // The bytes of `Reserve` stay uninitialized. The kernel therefore assigns no
  // physical memory to them yet.
  reserve = new (std::nothrow) Reserve;
  prepareForExhaustion();
  if (!isMemoryLimited())
    return;
  std::signal(SIGSEGV, onCrash);
  std::signal(SIGABRT, onCrash);
}

} // namespace pcc::runtime
