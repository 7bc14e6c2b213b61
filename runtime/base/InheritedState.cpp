//===- InheritedState.cpp - signals and descriptors from the parent -------===//

#include "runtime/base/InheritedState.h"

#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

namespace pcc::runtime {

/// Opens /dev/null at each of the descriptors 0, 1 and 2 that is closed.
/// Otherwise the next file that the program opens would get the number of the
/// closed descriptor. For example, a file with descriptor 2 would receive the
/// messages that the program writes to stderr.
///
/// The function opens /dev/null as stdin for writing only, and as stdout or
/// stderr for reading only. A read from stdin and a write to stdout or stderr
/// therefore still fail, just as on a closed descriptor.
static void fillStandardDescriptors() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) < 0)
      (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void repairInheritedState() {
  (void)endingSignals();
  fillStandardDescriptors();
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);
}

/// Returns whether `signal` would reach this process. A signal that the process
/// ignores does not reach the process. A signal that the calling thread blocks
/// does not reach the process either. `blocked` is the set of blocked signals.
static bool isEffective(int signal, const sigset_t &blocked) {
  struct sigaction action = {};
  return sigismember(&blocked, signal) == 0 &&
         sigaction(signal, nullptr, &action) == 0 &&
         action.sa_handler != SIG_IGN;
}

static sigset_t findEndingSignals() {
  sigset_t blocked, ending;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  sigemptyset(&ending);
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    if (isEffective(signal, blocked))
      sigaddset(&ending, signal);
  return ending;
}

sigset_t endingSignals() {
  static const sigset_t ending = findEndingSignals();
  return ending;
}

} // namespace pcc::runtime
