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

/// Handles the signal SIGPIPE, which has one of two senders:
///
/// - Another process, such as `pcc run`, has sent the signal. This function
///   requests an orderly end of training.
/// - The operating system has sent the signal, because this process has written
///   to a pipe without a reader. This function does nothing. The failed write
///   returns the error EPIPE, and the caller of the write decides whether to
///   stop the training.
///
/// In the second case, the field `si_pid` of `information` is the id of this
/// process.
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
  // The kernel repeats SIGXCPU every second beyond the soft limit of processor
  // time (RLIMIT_CPU), and ends the process at the hard limit.
  action.sa_flags = SA_RESTART;
  struct sigaction before = {};
  if (sigaction(SIGXCPU, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
    sigaction(SIGXCPU, &action, nullptr);
  action.sa_sigaction = onPipeSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPIPE, &action, nullptr);
}

void requestStop(int signal) { requested = signal; }

int stopRequested() { return requested; }

} // namespace pcc::runtime
