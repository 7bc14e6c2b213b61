//===- InheritedState.cpp - signals and descriptors from the parent -------===//

#include "runtime/base/InheritedState.h"

#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

namespace pcc::runtime {

/// Opens /dev/null at each standard descriptor that is closed, so that no other
/// file gets the descriptor's number. Reading from stdin and writing to stdout
/// or stderr must still fail, as they do on a closed descriptor. stdin is
/// therefore opened for writing only, stdout and stderr for reading only.
///
/// open() returns the lowest free number. The descriptors are opened in
/// ascending order, so this number is that of the closed descriptor.
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

/// Returns whether `signal` can end this process: it is neither in the set
/// `blocked` nor ignored.
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
