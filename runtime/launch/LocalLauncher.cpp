//===- LocalLauncher.cpp - starts ranks on this host ----------------------===//

#include "runtime/launch/LocalLauncher.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace pcc::runtime {

/// How long ranks may still say why they end when one has failed.
static constexpr unsigned kGraceSeconds = 1;

static std::vector<pid_t> children;

static void forward(int signal) {
  for (pid_t child : children)
    kill(child, signal);
}

static void endAll(int) { forward(SIGKILL); }

static void becomeRank(int rank, int count, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  for (int signal : {SIGINT, SIGTERM, SIGALRM})
    std::signal(signal, SIG_DFL);
  const std::pair<const char *, int> variables[] = {{"PCC_RANK", rank},
                                                    {"PCC_WORLD_SIZE", count},
                                                    {"PCC_LOCAL_RANK", rank},
                                                    {"PCC_LOCAL_SIZE", count}};
  for (const auto &[name, value] : variables)
    setenv(name, std::to_string(value).c_str(), /*overwrite=*/1);
}

/// 0 for a rank that has done its work.
static int codeOf(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int waitForAll() {
  int first = 0;
  for (size_t left = children.size(); left > 0;) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended < 0 && errno == EINTR)
      continue;
    if (ended < 0)
      return 1;
    --left;
    std::erase(children, ended);
    if (first == 0 && codeOf(status) != 0) {
      first = codeOf(status);
      alarm(kGraceSeconds);
    }
  }
  return first;
}

int launchRanks(int count) {
  children.reserve(size_t(count));
  const pid_t parent = getpid();
  std::signal(SIGCHLD, SIG_DFL);
  std::signal(SIGALRM, endAll);
  for (int rank = 0; rank < count; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      becomeRank(rank, count, parent);
      return -1;
    }
    if (child < 0) {
      endAll(0);
      return 1;
    }
    children.push_back(child);
  }
  std::signal(SIGINT, forward);
  std::signal(SIGTERM, forward);
  return waitForAll();
}

} // namespace pcc::runtime
