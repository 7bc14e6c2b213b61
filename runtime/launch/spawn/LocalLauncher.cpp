//===- LocalLauncher.cpp - launcher for ranks on this host, without MPI ---===//

#include "runtime/launch/spawn/LocalLauncher.h"
#include "runtime/base/Status.h"
#include "runtime/launch/job/CrashCleanup.h"
#include "runtime/launch/job/PrivateFolder.h"
#include "runtime/launch/rendezvous/Address.h"
#include "runtime/launch/report/FirstFailure.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace pcc::runtime {

namespace {
using Clock = std::chrono::steady_clock;

/// Folder that the ranks share for reports and flight recorders, if their
/// parent has provided none.
class SessionFolder {
public:
  /// Returns the path; empty if no folder could be created. Ranks then may
  /// print more than one error.
  const std::string &path() const { return folder.path(); }

  SessionFolder() {
    if (folder.create().ok())
      cleanup.emplace(std::vector{folder.path()});
  }

private:
  /// Destroyed last, after the folder was removed.
  std::optional<CrashCleanup> cleanup;
  PrivateFolder folder;
};

/// The ranks of this host as child processes. One thread receives signals and
/// ends of processes one after another; a signal is therefore never sent to a
/// process id that has been reused.
class Children {
public:
  /// Blocks the signals that wait() receives, and creates the shared folder.
  explicit Children(int count)
      : parent(getpid()),
        meetingPlace("unix:@pcc-" + std::to_string(geteuid()) + "-run-" +
                     std::to_string(parent) + "-" +
                     std::to_string(Clock::now().time_since_epoch().count())) {
    std::signal(SIGCHLD, SIG_DFL);
    sigemptyset(&handled);
    for (int signal : {SIGCHLD, SIGINT, SIGTERM})
      sigaddset(&handled, signal);
    sigprocmask(SIG_BLOCK, &handled, &before);
    pids.reserve(size_t(count));
    if (sharedFolder(currentEnvironment()).empty())
      session = std::make_unique<SessionFolder>();
  }

  /// Starts one rank. Returns false in the child.
  bool start(int rank, int count) {
    const pid_t child = fork();
    if (child == 0) {
      becomeRank(rank, count);
      return false;
    }
    if (child > 0)
      pids.push_back(child);
    else
      fail(Defect);
    return true;
  }

  /// Returns whether a rank has failed.
  bool haveFailed() const { return failure != 0; }

  /// Blocks until all ranks have ended. Returns the exit code of the job.
  int wait() {
    while (!pids.empty()) {
      takeEnds();
      if (pids.empty())
        break;
      const int signal = waitForSignal();
      if (signal == SIGINT || signal == SIGTERM)
        passOn(signal);
      if (killTime && Clock::now() >= *killTime)
        killAll();
    }
    return failure;
  }

private:
  /// Time for ranks to report and end after one has failed. Ranks normally end
  /// by themselves in less.
  static constexpr std::chrono::seconds kGrace{4};
  /// Time for ranks to save and end after a signal.
  static constexpr std::chrono::seconds kSaving{10};

  /// Prepares a forked child: it ends with its parent, and its environment
  /// holds its identity, the meeting address and the shared folder.
  void becomeRank(int rank, int count) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    const std::pair<const char *, int> variables[] = {
        {"PCC_RANK", rank},
        {"PCC_WORLD_SIZE", count},
        {"PCC_LOCAL_RANK", rank},
        {"PCC_LOCAL_SIZE", count}};
    for (const auto &[name, value] : variables)
      setenv(name, std::to_string(value).c_str(), /*overwrite=*/1);
    setenv(kRendezvousVariable, meetingPlace.c_str(), /*overwrite=*/0);
    // release(): the parent removes the folder.
    if (const SessionFolder *shared = session.release())
      setenv(kSessionFolderVariable, shared->path().c_str(), /*overwrite=*/1);
  }

  /// Waits up to 0.1 s. Returns the signal, or 0.
  int waitForSignal() {
    constexpr timespec tenth = {0, 100'000'000};
    const int signal = sigtimedwait(&handled, nullptr, &tenth);
    return signal < 0 ? 0 : signal;
  }

  /// Collects all children that have ended, and their results.
  void takeEnds() {
    int status = 0;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      const bool isRank = std::erase(pids, ended) > 0;
      if (isRank && !isKilling)
        fail(codeOf(status));
    }
  }

  /// Returns a child's result as shells write it; 0 for success.
  static int codeOf(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  /// Records a failure, and starts the time in which the others may end. The
  /// first failure counts. A PeerLost error is replaced by a later one, because
  /// the rank only reports the loss of another, and the order of ends is
  /// unknown.
  void fail(int code) {
    if (code == Done)
      return;
    if (failure == Done || failure == PeerLost)
      failure = code;
    if (!killTime)
      killTime = Clock::now() + kGrace;
  }

  /// Passes a signal to all ranks; the second signal kills them.
  void passOn(int signal) {
    if (std::exchange(wasAsked, true))
      return killAll();
    for (const pid_t pid : pids)
      kill(pid, signal);
    if (!killTime)
      killTime = Clock::now() + kSaving;
  }

  /// Kills all ranks. Their ends do not change the exit code.
  void killAll() {
    isKilling = true;
    for (const pid_t pid : pids)
      kill(pid, SIGKILL);
    if (failure == Done)
      failure = 128 + SIGKILL;
  }

  const pid_t parent;
  /// Abstract Unix name, unique on this host, at which the ranks meet unless
  /// PCC_RENDEZVOUS is set.
  const std::string meetingPlace;
  sigset_t handled, before;
  std::unique_ptr<SessionFolder> session;
  /// Process ids of the ranks that have not ended.
  std::vector<pid_t> pids;
  /// Exit code of the job so far.
  int failure = Done;
  bool wasAsked = false, isKilling = false;
  /// Time at which the remaining ranks are killed, if set.
  std::optional<Clock::time_point> killTime;
};
} // namespace

int launchRanks(int count) {
  Children children(count);
  for (int rank = 0; rank < count && !children.haveFailed(); ++rank)
    if (!children.start(rank, count))
      return -1;
  return children.wait();
}

} // namespace pcc::runtime
