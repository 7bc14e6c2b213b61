//===- CrashGuard.cpp - a crash of pcc becomes an answer ------------------===//

#include "passes/CrashGuard.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>

using namespace pcc;

/// What was said before an abort.
static std::string &lastWords() {
  static std::string words;
  return words;
}

static void abortWith(const char *why) {
  lastWords() = why;
  std::abort();
}

/// A stack that has run out cannot hold the handler of its own signal.
static void handleOnOwnStack(int signal) {
  static char stack[1 << 16];
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

/// Aborts stay silent: the guard says what happened.
static void installHandlers() {
  static const bool installed = [] {
    llvm::install_fatal_error_handler(
        [](void *, const char *reason, bool) { abortWith(reason); });
    llvm::install_bad_alloc_error_handler(
        [](void *, const char *, bool) { abortWith("out of memory"); });
    std::set_new_handler([] { abortWith("out of memory"); });
    std::set_terminate([] { abortWith("an exception that nothing catches"); });
    llvm::CrashRecoveryContext::Enable();
    handleOnOwnStack(SIGSEGV);
    return true;
  }();
  (void)installed;
}

bool pcc::survives(llvm::function_ref<void()> body, std::string &why) {
  installHandlers();
  lastWords().clear();
  llvm::CrashRecoveryContext guard;
  if (guard.RunSafely(body))
    return true;
  why = lastWords();
  if (why.empty())
    why = "signal " + std::to_string(guard.RetCode - 128);
  return false;
}
