//===- CrashGuard.cpp - conversion of crashes of pcc to errors ------------===//

#include "passes/driver/CrashGuard.h"
#include "runtime/base/Exhaustion.h"
#include "runtime/base/ScopedFolder.h"
#include "status/Status.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <string_view>
#include <unistd.h>

using namespace pcc;

namespace {
/// Reason of a fatal error. abortWith() stores it, and runsWithoutCrash() reads
/// it after the crash. `why` is the reason in one line; empty if a signal such
/// as SIGFPE caused the crash.
struct CrashReason {
  std::string why;
  GuardedEnd end = GuardedEnd::Crashed;
};

} // namespace

/// Returns the reason `status` in one line, with its notes. Leaves out the
/// notes of an error about memory: its reader tells the use of memory again.
static std::string lineOf(const Status &status) {
  std::string line = status.message();
  if (line != runtime::outOfMemory().message())
    for (const std::string &note : status.notes())
      line += "; " + note;
  return line;
}

static CrashReason &crashReason() {
  static CrashReason reason;
  return reason;
}

/// Writes the error message `why`, deletes all unfinished files and folders of
/// pcc, and ends the process. The exit code is 13 if `end` is
/// GuardedEnd::Exhausted, otherwise 1. If another thread crashes and calls this
/// function meanwhile, the second call ends the process at once, without a
/// message.
[[noreturn]] static void leave(const std::string &why, GuardedEnd end) {
  static std::atomic<bool> isLeaving{false};
  if (isLeaving.exchange(true))
    _exit(end == GuardedEnd::Exhausted ? NoDevice : Defect);
  runtime::releaseReservedMemory();
  // Write the error message in parts. To join the parts would need memory,
  // which may be exhausted.
  for (const std::string_view part :
       {std::string_view("pcc: error: "), std::string_view(why),
        std::string_view("\n")})
    (void)!write(STDERR_FILENO, part.data(), part.size());
  runtime::ScopedFolder::removeAll();
  if (end == GuardedEnd::Exhausted) {
    const std::string note = "note: " + runtime::describeMemory();
    (void)!write(STDERR_FILENO, (note + "\n").data(), note.size() + 1);
  }
  _exit(end == GuardedEnd::Exhausted ? NoDevice : Defect);
}

/// Handles a fatal error; `why` is the reason in one line. If
/// runsWithoutCrash() has called the current code, makes runsWithoutCrash()
/// return `end`. Otherwise, ends the process with the error message `why`.
static void abortWith(const std::string &why,
                      GuardedEnd end = GuardedEnd::Crashed) {
  if (!llvm::CrashRecoveryContext::GetCurrent())
    leave(why, end);
  crashReason() = {why, end};
  std::abort();
}

static void abortWithoutMemory() {
  runtime::releaseReservedMemory();
  abortWith("out of memory", GuardedEnd::Exhausted);
}

/// Handles an exception that no code has caught. std::terminate() calls this
/// function. The function calls abortWith() with the message of the exception.
static void abortWithException() {
  runtime::releaseReservedMemory();
  const Status status = runtime::errorOfException();
  abortWith(lineOf(status), status.code() == NoDevice ? GuardedEnd::Exhausted
                                                      : GuardedEnd::Crashed);
}

/// The handlers that LLVM has installed for SIGSEGV and SIGABRT.
static struct sigaction segmentationOfLlvm, abortOfLlvm;

/// Handles SIGSEGV and SIGABRT. In a call of runsWithoutCrash(), makes the call
/// return. Otherwise, ends the process with an error message.
///
/// If the process cannot get more memory, the reported reason is "out of
/// memory". It is then likely that an allocation in a library has failed, and
/// that the library has used the null pointer or has called abort().
static void onCrash(int signal, siginfo_t *, void *) {
  const bool isGuarded = llvm::CrashRecoveryContext::GetCurrent();
  const auto &handler = signal == SIGABRT ? abortOfLlvm : segmentationOfLlvm;
  if (signal == SIGABRT && isGuarded && handler.sa_handler)
    return handler.sa_handler(signal);
  if (runtime::isMemoryExhausted()) {
    abortWithoutMemory();
    return;
  }
  if (isGuarded && handler.sa_handler)
    return handler.sa_handler(signal);
  leave("a defect of pcc: a thread crashed by signal " + std::to_string(signal),
        GuardedEnd::Crashed);
}

/// Makes onCrash() the handler of `signal`, and stores the handler of LLVM in
/// `before`.
static void handle(int signal, struct sigaction &before) {
  struct sigaction action{};
  if (sigaction(signal, nullptr, &action) != 0 ||
      action.sa_sigaction == onCrash)
    return;
  before = action;
  action.sa_sigaction = onCrash;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO | SA_NODEFER;
  sigaction(signal, &action, nullptr);
}

/// Makes onCrash() the handler of invalid memory accesses and of abort(). Gives
/// the calling thread a second stack for the handler, because a stack overflow
/// raises SIGSEGV, too.
static void handleCrashes() {
  static thread_local char stack[1 << 16];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  if (sigaltstack(&other, nullptr) != 0)
    return;
  handle(SIGSEGV, segmentationOfLlvm);
  handle(SIGABRT, abortOfLlvm);
}

namespace {
/// Keeps crash handlers installed while at least one object of this class
/// lives. The last destructor restores the previous handlers of the process.
class Handlers {
public:
  Handlers() {
    const std::lock_guard lock(mutex);
    if (users++ == 0)
      install();
    handleCrashes();
  }
  Handlers(const Handlers &) = delete;
  Handlers &operator=(const Handlers &) = delete;

  ~Handlers() {
    const std::lock_guard lock(mutex);
    if (--users == 0)
      remove();
  }

private:
  /// Installs handlers that call abortWith(), for fatal errors of LLVM, failed
  /// allocations and uncaught exceptions. Also lets llvm::CrashRecoveryContext
  /// catch signals such as SIGABRT.
  static void install() {
    runtime::prepareForExhaustion();
    llvm::install_fatal_error_handler(
        [](void *, const char *reason, bool) { abortWith(reason); });
    llvm::install_bad_alloc_error_handler(
        [](void *, const char *, bool) { abortWithoutMemory(); });
    newHandler = std::set_new_handler(abortWithoutMemory);
    terminate = std::set_terminate(abortWithException);
    llvm::CrashRecoveryContext::Enable();
  }

  /// Removes the error handlers that install() has set, and restores the
  /// earlier handlers of the process.
  static void remove() {
    llvm::CrashRecoveryContext::Disable();
    std::set_terminate(terminate);
    std::set_new_handler(newHandler);
    llvm::remove_bad_alloc_error_handler();
    llvm::remove_fatal_error_handler();
  }

  /// Protects the other static variables of this class. Several threads may
  /// create and destroy `Handlers` objects at the same time. Therefore the
  /// constructor and the destructor lock this mutex before they use the static
  /// variables.
  static inline std::mutex mutex;
  /// Number of `Handlers` objects that exist.
  static inline int users = 0;
  /// Handlers that the process had before install(). remove() installs these
  /// handlers again. C++ calls `newHandler` after a failed allocation
  /// (std::set_new_handler). C++ calls `terminate` if no code catches an
  /// exception (std::set_terminate).
  static inline std::new_handler newHandler = nullptr;
  static inline std::terminate_handler terminate = nullptr;
};
} // namespace

GuardedEnd pcc::runsWithoutCrash(llvm::function_ref<void()> body,
                                 std::string &why) {
  const Handlers handlers;
  crashReason() = {};
  llvm::CrashRecoveryContext guard;
  if (guard.RunSafely(body))
    return GuardedEnd::Returned;
  why = crashReason().why;
  if (why.empty())
    why = "signal " + std::to_string(guard.RetCode - 128);
  return crashReason().end;
}
