//===- InheritedState.cpp - signals and descriptors from the parent -------===//

#include "runtime/base/InheritedState.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <pthread.h>
#include <string>
#include <sys/resource.h>
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
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);
}

bool raiseLimit(int resource, uint64_t needed, uint64_t wanted) {
  const auto number = static_cast<__rlimit_resource_t>(resource);
  rlimit limit{};
  if (getrlimit(number, &limit) != 0 || limit.rlim_cur >= wanted)
    return true;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  if (setrlimit(number, &limit) != 0)
    limit.rlim_cur = before;
  return limit.rlim_cur >= needed;
}

/// Returns the error for a limit of this process that is lower than `needed`.
/// The message is, for example, "pcc needs 64 open files, but the limit is 32".
/// In this example, `needed` is 64 and `what` is " open files". `limit` has the
/// limit before any change. `command` is the shell's command that raises the
/// limit, such as "ulimit -n".
static Status tooLow(uint64_t needed, const std::string &what,
                     const rlimit &limit, const std::string &command) {
  return Status::error(InputOutput,
                       "pcc needs " + std::to_string(needed) + what +
                           ", but the limit is " +
                           std::to_string(limit.rlim_cur),
                       {"raise the limit with '" + command + "'"});
}

Status raiseLimits() {
  rlimit files{}, stacks{};
  getrlimit(RLIMIT_NOFILE, &files);
  getrlimit(RLIMIT_STACK, &stacks);
  // To delete an unfinished result, pcc must open a directory. With a limit
  // below 64 open files, this could fail, and the unfinished result would stay.
  constexpr uint64_t neededFiles = 64, mebibyte = 1 << 20;
  if (!raiseLimit(RLIMIT_NOFILE, neededFiles, neededFiles))
    return tooLow(neededFiles, " open files", files, "ulimit -n");
  if (!raiseLimit(RLIMIT_STACK, mebibyte, 8 * mebibyte))
    return tooLow(mebibyte, " bytes for the stack of a thread", stacks,
                  "ulimit -s");
  // At the start of the process, the C library has made the stack limit
  // (RLIMIT_STACK) the default size of the stacks of new threads. Set this
  // default to the raised limit.
  rlimit stack{};
  pthread_attr_t attributes;
  if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY &&
      pthread_getattr_default_np(&attributes) == 0) {
    pthread_attr_setstacksize(&attributes, stack.rlim_cur);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  return Status::success();
}

/// Returns whether `signal` would reach this process. This is the case if the
/// process neither ignores nor blocks the signal. `blocked` is the set of
/// blocked signals.
static bool isEffective(int signal, const sigset_t &blocked) {
  struct sigaction action = {};
  return sigismember(&blocked, signal) == 0 &&
         sigaction(signal, nullptr, &action) == 0 &&
         action.sa_handler != SIG_IGN;
}

void addEffectiveSignals(std::initializer_list<int> signals, sigset_t &set) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (int signal : signals)
    if (isEffective(signal, blocked))
      sigaddset(&set, signal);
}

static sigset_t findEndingSignals() {
  sigset_t ending;
  sigemptyset(&ending);
  addEffectiveSignals({SIGINT, SIGTERM, SIGHUP}, ending);
  return ending;
}

std::string signalText(int number) {
  const char *name = strsignal(number);
  return "signal " + std::to_string(number) + " (" + (name ? name : "?") + ")";
}

sigset_t endingSignals() {
  static const sigset_t ending = findEndingSignals();
  return ending;
}

} // namespace pcc::runtime
