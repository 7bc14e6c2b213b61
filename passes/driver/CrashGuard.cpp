//===- CrashGuard.cpp - conversion of crashes of pcc to errors ------------===//

#include "passes/driver/CrashGuard.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>

using namespace pcc;

/// Returns the reason that abortWith() has recorded; empty if there is none.
static std::string &crashReason() {
  static std::string words;
  return words;
}

/// Records `why` as the reason of the crash and aborts. The crash guard catches
/// the abort.
static void abortWith(const char *why) {
  crashReason() = why;
  std::abort();
}

/// Makes the handler of `signal` run on a separate stack, which belongs to the
/// calling thread. The handler must run even after the thread's own stack has
/// overflowed.
static void handleOnOwnStack(int signal) {
  static thread_local char stack[1 << 16];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  struct sigaction action{};
  if (sigaltstack(&other, nullptr) != 0 ||
      sigaction(signal, nullptr, &action) != 0)
    return;
  action.sa_flags |= SA_ONSTACK;
  sigaction(signal, &action, nullptr);
}

namespace {
/// Crash handlers are installed while at least one object of this class lives.
/// The last destructor restores the process's previous handlers, such as those
/// of a Python interpreter.
class Handlers {
public:
  Handlers() {
    const std::lock_guard lock(mutex);
    if (users++ == 0)
      install();
    handleOnOwnStack(SIGSEGV);
  }
  Handlers(const Handlers &) = delete;
  Handlers &operator=(const Handlers &) = delete;

  ~Handlers() {
    const std::lock_guard lock(mutex);
    if (--users == 0)
      remove();
  }

private:
  /// Installs handlers that record the reason of a fatal error and abort
  /// without a message. The crash guard reports the reason.
  static void install() {
    llvm::install_fatal_error_handler(
        [](void *, const char *reason, bool) { abortWith(reason); });
    llvm::install_bad_alloc_error_handler(
        [](void *, const char *, bool) { abortWith("out of memory"); });
    newHandler = std::set_new_handler([] { abortWith("out of memory"); });
    terminate =
        std::set_terminate([] { abortWith("an exception was not caught"); });
    llvm::CrashRecoveryContext::Enable();
  }

  /// Restores the handlers that the process had before install().
  static void remove() {
    llvm::CrashRecoveryContext::Disable();
    std::set_terminate(terminate);
    std::set_new_handler(newHandler);
    llvm::remove_bad_alloc_error_handler();
    llvm::remove_fatal_error_handler();
  }

  /// Protects the static members below.
  static inline std::mutex mutex;
  /// Number of objects of this class that exist.
  static inline int users = 0;
  /// Handlers that the process had before install().
  static inline std::new_handler newHandler = nullptr;
  static inline std::terminate_handler terminate = nullptr;
};
} // namespace

bool pcc::runsWithoutCrash(llvm::function_ref<void()> body, std::string &why) {
  const Handlers handlers;
  crashReason().clear();
  llvm::CrashRecoveryContext guard;
  if (guard.RunSafely(body))
    return true;
  why = crashReason();
  if (why.empty())
    why = "signal " + std::to_string(guard.RetCode - 128);
  return false;
}
