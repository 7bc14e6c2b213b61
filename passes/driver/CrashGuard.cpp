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
/// Reason of a crash. abortWith() stores the reason before the function calls
/// std::abort(). runsWithoutCrash() later reads the reason. `why` is the reason
/// in one line. `why` is empty if abortWith() has stored no reason. `end` tells
/// whether memory or another resource was exhausted.
struct CrashReason {
  std::string why;
  GuardedEnd end = GuardedEnd::Crashed;
};
} // namespace

static CrashReason &crashReason() {
  static CrashReason reason;
  return reason;
}

/// Ends the process after a crash. Writes an error message to stderr. `why` is
/// the reason of the crash in one line. Deletes all files and folders that pcc
/// has not finished. The exit code is 13 if `end` is GuardedEnd::Exhausted
/// (memory or another resource was exhausted), otherwise 1.
///
/// Called if the crashed thread is not in a call of runsWithoutCrash(). While
/// one call of leave() runs, a second call ends the process at once.
[[noreturn]] static void leave(const std::string &why, GuardedEnd end) {
  static std::atomic<bool> isLeaving{false};
  if (isLeaving.exchange(true))
    _exit(end == GuardedEnd::Exhausted ? NoDevice : Defect);
  // Write the error message in parts. To join the parts would need memory,
  // which may be exhausted.
  for (const std::string_view part :
       {std::string_view("pcc: error: "), std::string_view(why),
        std::string_view("\n")})
    (void)!write(STDERR_FILENO, part.data(), part.size());
  runtime::ScopedFolder::removeAll();
  _exit(end == GuardedEnd::Exhausted ? NoDevice : Defect);
}

/// Handles a fatal error. `why` is the reason in one line. `end` tells whether
/// memory or another resource was exhausted.
///  - If the calling thread is in a call of runsWithoutCrash(), this call ends
///    and returns `end`. The process continues. To achieve this, abortWith()
///    stores `why` and `end` and then calls std::abort(). runsWithoutCrash()
///    catches the resulting signal.
///  - Otherwise, abortWith() writes the error message `why` and ends the
///    process.
static void abortWith(const std::string &why,
                      GuardedEnd end = GuardedEnd::Crashed) {
  if (!llvm::CrashRecoveryContext::GetCurrent())
    leave(why, end);
  crashReason() = {why, end};
  std::abort();
}

static void abortWithoutMemory() {
  abortWith("out of memory", GuardedEnd::Exhausted);
}

/// Handles an exception that no code has caught. std::terminate() calls this
/// function. The function calls abortWith() with the message of the exception.
static void abortWithException() {
  const Status status = runtime::errorOfException();
  abortWith(status.message(), status.code() == NoDevice ? GuardedEnd::Exhausted
                                                        : GuardedEnd::Crashed);
}

/// The handler that LLVM has installed for SIGSEGV.
static struct sigaction handlerOfLlvm;

/// Handles the signal SIGSEGV:
///  - If the thread is in a call of runsWithoutCrash(), makes this call return.
///  - Otherwise, ends the process with an error message.
///
/// If the process cannot get more memory, the reported reason is "out of
/// memory". The signal then probably comes from a library that has used the
/// null pointer of a failed allocation. If the process can get more memory, the
/// reported reason is the signal.
static void onInvalidAccess(int signal, siginfo_t *, void *) {
  if (runtime::isMemoryExhausted()) {
    abortWithoutMemory();
    return;
  }
  if (llvm::CrashRecoveryContext::GetCurrent() && handlerOfLlvm.sa_handler)
    return handlerOfLlvm.sa_handler(signal);
  leave("a defect of pcc: a thread crashed by signal " + std::to_string(signal),
        GuardedEnd::Crashed);
}

/// Installs onInvalidAccess() as the handler of SIGSEGV. Gives the calling
/// thread a second stack for this handler, because its first stack may have
/// overflowed.
static void handleInvalidAccess() {
  static thread_local char stack[1 << 16];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  struct sigaction action{};
  if (sigaltstack(&other, nullptr) != 0 ||
      sigaction(SIGSEGV, nullptr, &action) != 0)
    return;
  if (action.sa_sigaction == onInvalidAccess)
    return;
  handlerOfLlvm = action;
  action.sa_sigaction = onInvalidAccess;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
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
    handleInvalidAccess();
  }
  Handlers(const Handlers &) = delete;
  Handlers &operator=(const Handlers &) = delete;

  ~Handlers() {
    const std::lock_guard lock(mutex);
    if (--users == 0)
      remove();
  }

private:
  /// Installs a handler for each of these fatal errors:
  ///  - LLVM reports a fatal error.
  ///  - LLVM or operator new cannot allocate memory.
  ///  - An exception is not caught.
  ///
  /// Each handler calls abortWith(). If the thread is in a call of
  /// runsWithoutCrash(), abortWith() makes this call return. Otherwise,
  /// abortWith() ends the process. This function also lets
  /// llvm::CrashRecoveryContext catch signals such as SIGABRT.
  static void install() {
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
  /// The process's own handlers for failed allocations and for uncaught
  /// exceptions. install() saves them here, and remove() restores them.
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
