//===- LocalLauncher.cpp - starts ranks on this host ----------------------===//

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

/// The folder that the ranks share where nobody else has given them one.
class SessionFolder {
public:
  /// Empty if none can be made: better said twice than never.
  const std::string &path() const { return folder.path(); }

  SessionFolder() {
    if (folder.create().ok())
      cleanup.emplace(std::vector{folder.path()});
  }

private:
  std::optional<CrashCleanup> cleanup; ///< goes after the folder
  PrivateFolder folder;
};

/// The ranks of this host, as children. Signals are taken one after another by
/// the thread that also takes note of their ends: none is sent to a process
/// that is gone, whose number another may have.
class Children {
public:
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

  /// False in the child.
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

  bool haveFailed() const { return failure != 0; }

  /// Returns when all have ended, with the exit code of the job.
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
  /// How long ranks may still say why they end when one has failed. They end
  /// by themselves in less.
  static constexpr std::chrono::seconds kGrace{4};
  /// How long they may save what they can after a signal.
  static constexpr std::chrono::seconds kSaving{10};

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
    // It is the parent's to remove.
    if (const SessionFolder *shared = session.release())
      setenv(kSessionFolderVariable, shared->path().c_str(), /*overwrite=*/1);
  }

  /// One of them, or 0 when it is time to look.
  int waitForSignal() {
    constexpr timespec tenth = {0, 100'000'000};
    const int signal = sigtimedwait(&handled, nullptr, &tenth);
    return signal < 0 ? 0 : signal;
  }

  void takeEnds() {
    int status = 0;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      const bool isRank = std::erase(pids, ended) > 0;
      if (isRank && !isKilling)
        fail(codeOf(status));
    }
  }

  /// 0 for a rank that has done its work.
  static int codeOf(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  /// The first counts, but for a rank that only leaves because another is lost:
  /// the kernel does not say who ended first.
  void fail(int code) {
    if (code == Done)
      return;
    if (failure == Done || failure == PeerLost)
      failure = code;
    if (!killTime)
      killTime = Clock::now() + kGrace;
  }

  /// The second time ranks are not asked any more.
  void passOn(int signal) {
    if (std::exchange(wasAsked, true))
      return killAll();
    for (const pid_t pid : pids)
      kill(pid, signal);
    if (!killTime)
      killTime = Clock::now() + kSaving;
  }

  void killAll() {
    isKilling = true;
    for (const pid_t pid : pids)
      kill(pid, SIGKILL);
    if (failure == Done)
      failure = 128 + SIGKILL;
  }

  const pid_t parent;
  /// Where nobody has said one: a name that no other job of this host has.
  const std::string meetingPlace;
  sigset_t handled, before;
  std::unique_ptr<SessionFolder> session;
  std::vector<pid_t> pids; ///< of those that have not ended
  int failure = Done;
  bool wasAsked = false, isKilling = false;
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
