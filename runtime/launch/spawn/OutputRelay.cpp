//===- OutputRelay.cpp - passes the stdout of ranks on to stdout ----------===//

#include "runtime/launch/spawn/OutputRelay.h"
#include "runtime/base/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <poll.h>
#include <unistd.h>

namespace pcc::runtime {

using Clock = std::chrono::steady_clock;

OutputRelay::OutputRelay(double seconds)
    : longest(seconds), pipeHandler(std::signal(SIGPIPE, SIG_IGN)) {}

OutputRelay::~OutputRelay() { std::signal(SIGPIPE, pipeHandler); }

void OutputRelay::add(std::string_view text) {
  if (error.failed())
    return;
  if (pending.empty())
    latest = Clock::now();
  pending += text;
}

void OutputRelay::note(Status status) {
  if (status.ok())
    return;
  readerGone = errno == EPIPE;
  error = std::move(status);
  pending.clear();
}

/// Returns whether a write of up to PIPE_BUF (4096) bytes to stdout does not
/// block. If stdout is a pipe, poll() reports that stdout is writable only if
/// the pipe has space for PIPE_BUF bytes. Also returns true if the next write
/// to stdout fails at once, for example because the reader has ended.
static bool isReady() {
  pollfd wanted{STDOUT_FILENO, POLLOUT, 0};
  return poll(&wanted, 1, 0) > 0;
}

void OutputRelay::advance() {
  while (!pending.empty() && isReady()) {
    const size_t size = std::min(pending.size(), size_t(PIPE_BUF));
    note(writeAll(STDOUT_FILENO, {pending.data(), size}, "stdout",
                  longest.count()));
    if (error.ok())
      pending.erase(0, size);
    latest = Clock::now();
  }
  if (!pending.empty() && Clock::now() - latest > longest) {
    errno = ETIMEDOUT;
    note(Status::error(InputOutput,
                       "cannot write 'stdout': no byte was read for " +
                           std::to_string(int(longest.count())) + " s"));
  }
}

void OutputRelay::finish() {
  if (!pending.empty())
    note(writeAll(STDOUT_FILENO, pending, "stdout", longest.count()));
  pending.clear();
}

} // namespace pcc::runtime
