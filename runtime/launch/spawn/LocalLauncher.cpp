//===- LocalLauncher.cpp - launcher for ranks on this host, without MPI ---===//

#include "runtime/launch/spawn/LocalLauncher.h"
#include "runtime/base/InheritedState.h"
#include "runtime/launch/job/CrashCleanup.h"
#include "runtime/launch/job/PrivateFolder.h"
#include "runtime/launch/job/RandomToken.h"
#include "runtime/launch/rendezvous/Address.h"
#include "runtime/launch/report/FirstFailure.h"
#include "status/Status.h"

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

/// Folder in which all ranks of the job write error reports and flight
/// recorders (activity logs). The constructor creates the folder. The
/// destructor deletes the folder.
///
/// Not used if an environment variable contains the path of a folder for this
/// purpose already. For example, `pcc run` sets PCC_STATUS_DIR to such a path.
class SessionFolder {
public:
  /// Returns the path of the folder in which all ranks of the job write error
  /// reports. The path is empty if the folder could not be created.
  const std::string &path() const { return folder.path(); }

  SessionFolder() {
    if (folder.create().ok())
      cleanup.emplace(std::vector{folder.path()});
  }

private:
  /// Helper process that deletes the folder if this process is killed, for
  /// example by SIGKILL. Empty if the folder could not be created.
  ///
  /// `cleanup` is declared before `folder`, because C++ destroys the members of
  /// an object in reverse order:
  ///
  /// 1. The destructor of `folder` deletes the folder.
  /// 2. The destructor of `cleanup` ends the helper process.
  ///
  /// The helper process thus runs until the folder is deleted.
  std::optional<CrashCleanup> cleanup;
  PrivateFolder folder;
};

/// The ranks of this host, as child processes of this process. One thread sends
/// signals to the ranks and calls waitpid(). After waitpid() has returned the
/// process id of an ended rank, the kernel can give this id to a different
/// process. takeEnds() therefore removes the id from `pids` at once, and the
/// thread sends signals only to the ids in `pids`. A signal thus never reaches
/// a different process.
class Children {
public:
  /// Prepares this process to start `count` ranks by start().
  ///
  /// Blocks SIGCHLD and the signals of endingSignals(), such as SIGINT. A
  /// blocked signal stays pending until wait() reads it.
  ///
  /// Creates a folder in which the ranks write their errors and logs. Does not
  /// create the folder if the environment names such a folder already, for
  /// example in PCC_STATUS_DIR.
  explicit Children(int count)
      : parent(getpid()),
        meetingPlace("unix:@pcc-" + std::to_string(geteuid()) + "-run-" +
                     std::to_string(parent) + "-" +
                     std::to_string(Clock::now().time_since_epoch().count())) {
    handled = endingSignals();
    sigaddset(&handled, SIGCHLD);
    sigprocmask(SIG_BLOCK, &handled, &before);
    pids.reserve(size_t(count));
    if (sharedFolder(currentEnvironment()).empty())
      session = std::make_unique<SessionFolder>();
  }

  /// Starts rank `rank` of `count` as a child process. Returns true in the
  /// parent, false in the child.
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
      if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
        passOn(signal);
      if (killTime && Clock::now() >= *killTime)
        killAll();
    }
    return failure;
  }

private:
  /// Time limit that begins when the first rank fails. Within this time, the
  /// other ranks can report their errors and end. After the time limit, wait()
  /// kills all ranks that still run.
  ///
  /// There is one exception: this process received a signal, such as SIGINT,
  /// before the first rank failed. A time limit of ten seconds (kSaving) began
  /// when the signal arrived. The failure does not change that time limit.
  static constexpr std::chrono::seconds kGrace{4};
  /// Time limit that begins when this process receives a signal such as SIGINT
  /// and passes the signal to all ranks. Within this time, a rank that trains a
  /// model can save a checkpoint and end. After the time limit, wait() kills
  /// all ranks that still run.
  ///
  /// There is one exception: a rank failed before the signal arrived. A time
  /// limit of four seconds (kGrace) began when the rank failed. The signal does
  /// not change that time limit.
  static constexpr std::chrono::seconds kSaving{10};

  /// Turns a child process, which fork() has just created, into rank `rank` of
  /// `count`. The kernel kills the child when the parent ends. Sets the
  /// environment:
  ///
  ///   PCC_RANK, PCC_LOCAL_RANK        `rank`
  ///   PCC_WORLD_SIZE, PCC_LOCAL_SIZE  `count`
  ///   PCC_RENDEZVOUS   address at which rank 0 listens, unless already set
  ///   PCC_JOB_TOKEN    secret that all ranks know, unless already set
  ///   PCC_SESSION_DIR  folder for errors and logs, if the constructor made it
  void becomeRank(int rank, int count) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(Defect);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    const std::pair<const char *, int> variables[] = {
        {"PCC_RANK", rank},
        {"PCC_WORLD_SIZE", count},
        {"PCC_LOCAL_RANK", rank},
        {"PCC_LOCAL_SIZE", count}};
    for (const auto &[name, value] : variables)
      setenv(name, std::to_string(value).c_str(), /*overwrite=*/1);
    setenv(kRendezvousVariable, meetingPlace.c_str(), /*overwrite=*/0);
    setenv(kTokenVariable, token.c_str(), /*overwrite=*/0);
    // `session` owns the folder that all ranks share: the destructor of
    // `session` deletes the folder. fork() has copied `session` into the child.
    // release() gives up the ownership in the child, so that only the parent
    // deletes the folder.
    if (const SessionFolder *shared = session.release())
      setenv(kSessionFolderVariable, shared->path().c_str(), /*overwrite=*/1);
  }

  /// Waits up to 0.1 s for a signal. Returns the number of the signal, or 0 if
  /// none has arrived.
  int waitForSignal() {
    constexpr timespec tenth = {0, 100'000'000};
    const int signal = sigtimedwait(&handled, nullptr, &tenth);
    return signal < 0 ? 0 : signal;
  }

  /// Reaps all child processes that have ended, and removes the ended ranks
  /// from `pids`. Passes the exit code of each ended rank to fail(), which
  /// determines the exit code of the job.
  ///
  /// If killAll() was called before, passes no exit code to fail(). killAll()
  /// has set the exit code of the job already.
  void takeEnds() {
    int status = 0;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      const bool isRank = std::erase(pids, ended) > 0;
      if (isRank && !isKilling)
        fail(codeOf(status));
    }
  }

  /// Returns a child's exit status as shells report it: the exit code, or 128
  /// plus the number of the signal that killed it. `status` is the result of
  /// waitpid().
  static int codeOf(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  /// Records that a rank ended with exit code `code`. Does nothing if `code` is
  /// 0. A rank that cannot be started counts as exit code 1. The first failure
  /// starts the time limit kGrace, unless a signal has started a time limit
  /// before. After the time limit, wait() kills all ranks that still run.
  ///
  /// The exit code of the job is that of the first rank that failed. Exception:
  /// a later failure replaces 14 (PeerLost), because 14 says that another rank
  /// caused the failure. The exit codes 14, 13 and 1, in this order, give 13.
  void fail(int code) {
    if (code == Done)
      return;
    if (failure == Done || failure == PeerLost)
      failure = code;
    if (!killTime)
      killTime = Clock::now() + kGrace;
  }

  /// Handles a signal to this process: `signal` is SIGINT, SIGTERM or SIGHUP.
  ///
  /// - The first call sends `signal` to all ranks that have not ended, and
  ///   begins a time limit of ten seconds (kSaving). After the time limit,
  ///   wait() kills the ranks that have not ended.
  /// - A later call kills all ranks at once.
  ///
  /// There is one exception: a rank failed before the first call. A time limit
  /// of four seconds (kGrace) began when the rank failed. The first call sends
  /// `signal`, but does not change that time limit.
  void passOn(int signal) {
    if (std::exchange(wasAsked, true))
      return killAll();
    for (const pid_t pid : pids)
      kill(pid, signal);
    if (!killTime)
      killTime = Clock::now() + kSaving;
  }

  /// Kills all ranks that still run. Later calls of takeEnds() ignore the exit
  /// statuses of these ranks. The exit code of the job stays the same if a rank
  /// has failed already. Otherwise the exit code of the job becomes 137 (128 +
  /// SIGKILL).
  void killAll() {
    isKilling = true;
    for (const pid_t pid : pids)
      kill(pid, SIGKILL);
    if (failure == Done)
      failure = 128 + SIGKILL;
  }

  const pid_t parent;
  /// Address at which rank 0 listens; all other ranks connect to it. The
  /// address is the name of an abstract Unix socket, which needs no file. The
  /// name contains the user id, the process id and the time, so that each job
  /// on this host has a different name.
  ///
  /// Not used if the environment variable PCC_RENDEZVOUS is set: the variable
  /// then contains the address.
  const std::string meetingPlace;
  /// Secret that all ranks of this job know. A rank that connects to rank 0
  /// proves that it knows the secret. Not used if the environment variable
  /// PCC_JOB_TOKEN is set: the variable then contains the secret.
  const std::string token = randomToken();
  sigset_t handled, before;
  std::unique_ptr<SessionFolder> session;
  /// Process ids of the ranks that have not ended.
  std::vector<pid_t> pids;
  /// Exit code of the job so far: 0 until a rank fails.
  int failure = Done;
  bool wasAsked = false, isKilling = false;
  /// Time at which all running ranks are killed; empty before the first failure
  /// or signal.
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
