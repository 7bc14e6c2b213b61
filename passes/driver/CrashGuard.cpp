//===- CrashGuard.cpp - a crash of pcc becomes an answer ------------------===//

#include "passes/driver/CrashGuard.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>

using namespace pcc;

/// What was said before an abort.
static std::string &crashReason() {
  static std::string words;
  return words;
}

static void abortWith(const char *why) {
  crashReason() = why;
  std::abort();
}

/// A stack that has run out cannot hold the handler of its own signal.
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
/// The handlers of crashes, while something is guarded: what the process had,
/// which may be an interpreter's, comes back with the last of these objects.
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
  /// Aborts stay silent: the guard says what happened.
  static void install() {
    llvm::install_fatal_error_handler(
        [](void *, const char *reason, bool) { abortWith(reason); });
    llvm::install_bad_alloc_error_handler(
        [](void *, const char *, bool) { abortWith("out of memory"); });
    newHandler = std::set_new_handler([] { abortWith("out of memory"); });
    terminate = std::set_terminate(
        [] { abortWith("an exception that nothing catches"); });
    llvm::CrashRecoveryContext::Enable();
  }

  static void remove() {
    llvm::CrashRecoveryContext::Disable();
    std::set_terminate(terminate);
    std::set_new_handler(newHandler);
    llvm::remove_bad_alloc_error_handler();
    llvm::remove_fatal_error_handler();
  }

  static inline std::mutex mutex; ///< of what follows
  static inline int users = 0;
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
