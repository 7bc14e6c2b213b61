//===- StopRequest.cpp - orderly end of training on a signal --------------===//

#include "runtime/engine/StopRequest.h"
#include "runtime/base/InheritedState.h"

#include <csignal>
#include <initializer_list>
#include <unistd.h>

namespace pcc::runtime {

/// Number of the signal that has arrived, or 0.
static volatile std::sig_atomic_t requested = 0;

static void onSignal(int signal) { requested = signal; }

/// Handles SIGPIPE. If another process has sent it, requests a stop. If it
/// comes from the kernel, ignores it: this process has written to a closed
/// pipe, which may be another one than stdout.
static void onPipeSignal(int signal, siginfo_t *information, void *) {
  if (information->si_pid != getpid())
    requested = signal;
}

void listenForStop() {
  struct sigaction action = {};
  action.sa_handler = onSignal;
  // SA_RESETHAND: the second signal has its default effect.
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  const sigset_t ending = endingSignals();
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    if (sigismember(&ending, signal) == 1)
      sigaction(signal, &action, nullptr);
  action.sa_sigaction = onPipeSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPIPE, &action, nullptr);
}

void requestStop(int signal) { requested = signal; }

int stopRequested() { return requested; }

} // namespace pcc::runtime
