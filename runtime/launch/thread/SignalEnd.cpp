//===- SignalEnd.cpp - signals that end a run of threads ------------------===//

#include "runtime/launch/thread/SignalEnd.h"
#include "runtime/base/InheritedState.h"
#include "status/Status.h"

#include <array>
#include <csignal>
#include <string>
#include <unistd.h>

namespace pcc::runtime {

namespace {
/// A signal and the line that its handler writes. The handler must not
/// allocate, so the line is made before.
struct EndLine {
  int signal;
  std::string text;
};
} // namespace

static std::array<EndLine, 3> &endLines() {
  static std::array<EndLine, 3> lines = {
      {{SIGINT, ""}, {SIGTERM, ""}, {SIGHUP, ""}}};
  return lines;
}

static void onEndSignal(int signal) {
  for (const EndLine &line : endLines())
    if (line.signal == signal)
      (void)!write(STDERR_FILENO, line.text.data(), line.text.size());
  _exit(endedBySignal(signal));
}

void tellEndBySignal() {
  struct sigaction action = {};
  action.sa_handler = onEndSignal;
  // Remove a line of progress from the terminal.
  const std::string begin = isatty(STDERR_FILENO) ? "\r\x1b[K" : "";
  const sigset_t ending = endingSignals();
  for (EndLine &line : endLines()) {
    line.text = begin + "pcc: error: the run was ended by " +
                signalText(line.signal) + "\n";
    if (sigismember(&ending, line.signal) == 1)
      sigaction(line.signal, &action, nullptr);
  }
}

} // namespace pcc::runtime
