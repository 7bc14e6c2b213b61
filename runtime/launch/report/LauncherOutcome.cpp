//===- LauncherOutcome.cpp - cause and exit code of a failed launch -------===//

#include "runtime/launch/report/LauncherOutcome.h"

#include "runtime/base/Exhaustion.h"
#include "runtime/base/InheritedState.h"

#include <csignal>
#include <sys/wait.h>

namespace pcc::runtime {

/// Returns whether `code` is one of the exit codes that pcc documents.
static bool isOfInterface(int code) {
  return (code >= Defect && code <= InputOutput) ||
         (code >= BadInput && code <= ValuesDiffer);
}

/// Adds the last eight lines of `noise` to `status` as notes, and returns the
/// result. `noise` contains the lines that the launcher, such as mpirun, wrote
/// to stderr and that pcc did not show to the user. Empty lines and lines that
/// contain "----" do not become notes.
static Status withNoise(Status status, const std::deque<std::string> &noise) {
  constexpr size_t shown = 8;
  const size_t first = noise.size() > shown ? noise.size() - shown : 0;
  for (size_t i = first; i < noise.size(); ++i)
    if (!noise[i].empty() && noise[i].find("----") == std::string::npos)
      status.addNote(noise[i]);
  return status;
}

/// Returns the error for a rank that ended without an error report.
/// `isStarting` says whether MPI was still starting. The exit code of the error
/// is:
///
///   14               A signal killed the rank.
///   the rank's code  The rank ended with an exit code that pcc documents,
///                    other than 1.
///   13 or 14         The rank ended with another exit code, or with 1. The
///                    code is 13 if `isStarting` is true. Otherwise it is 14.
///
/// In the last case, a library such as MPI probably ended the rank: pcc writes
/// an error report before it ends a rank.
static Status describeLost(const LostRank &lost, bool isStarting) {
  const std::string rank = "rank " + std::to_string(lost.rank);
  if (lost.signal)
    return Status::error(PeerLost, rank + " was lost: it was ended by " +
                                       signalText(lost.signal));
  const bool isKnown = lost.exitCode != Defect && isOfInterface(lost.exitCode);
  Status status = Status::error(isKnown      ? ExitCode(lost.exitCode)
                                : isStarting ? NoDevice
                                             : PeerLost,
                                rank + " ended with exit code " +
                                    std::to_string(lost.exitCode) +
                                    " and without a message");
  return isKnown ? status : withProcessLimit(std::move(status));
}

/// Returns the exit code of rank 0, or the signal that killed rank 0, if
/// `pcc run` started rank 0 without a launcher. Without a launcher, rank 0 is
/// the only rank, and `outcome.waitStatus` describes the end of its process.
/// Returns std::nullopt if there was a launcher, such as mpirun. Must be called
/// only if the run has failed.
static std::optional<LostRank> lostDirectly(const LauncherOutcome &outcome) {
  if (outcome.launcher != "rank 0")
    return std::nullopt;
  LostRank lost;
  if (WIFSIGNALED(outcome.waitStatus))
    lost.signal = WTERMSIG(outcome.waitStatus);
  else
    lost.exitCode = WEXITSTATUS(outcome.waitStatus);
  return lost;
}

/// Returns the rank whose process ended first. This rank probably caused the
/// failure of the run. The launcher (such as mpirun) is the parent of the
/// rank's process, so pcc cannot read the exit status of the rank. The result
/// has the exit code of the launcher instead. For example, 137 (128 + 9) means
/// that signal 9 killed the rank.
///
/// Returns std::nullopt if it is unknown which rank ended first, if all ranks
/// finished their work, or if a signal killed the launcher.
static std::optional<LostRank> lostFirst(const LauncherOutcome &outcome) {
  if (!outcome.firstEnded || outcome.allLeft || !WIFEXITED(outcome.waitStatus))
    return std::nullopt;
  const int code = WEXITSTATUS(outcome.waitStatus);
  LostRank lost;
  lost.rank = *outcome.firstEnded;
  (code > 128 ? lost.signal : lost.exitCode) = code > 128 ? code - 128 : code;
  return lost;
}

/// Returns the error of a failed run, if pcc does not know which rank caused
/// the failure. The launcher is the process that starts the ranks, such as
/// mpirun. The error tells how the launcher ended, as in "mpirun ended with
/// exit code 1 before the ranks". The exit code of the error is 14 if a rank
/// has started, otherwise 13.
static Status describeLauncher(const LauncherOutcome &outcome) {
  const std::string end =
      WIFSIGNALED(outcome.waitStatus)
          ? "was ended by " + signalText(WTERMSIG(outcome.waitStatus))
          : "ended with exit code " +
                std::to_string(WEXITSTATUS(outcome.waitStatus));
  if (outcome.started)
    return withNoise(
        Status::error(PeerLost,
                      outcome.launcher + " " + end +
                          (outcome.allLeft ? " after all ranks had left"
                                           : " before the ranks")),
        outcome.noise);
  const std::string reason = firstStatement(outcome.noise);
  return withProcessLimit(Status::error(
      NoDevice,
      outcome.launcher + " did not start the ranks and " + end +
          (reason.empty() ? "" : ": " + reason),
      {"ranks as processes need Open MPI 4.1; --comm thread runs without"}));
}

/// Returns whether the launcher exited with code 0.
static bool endedWell(const LauncherOutcome &outcome) {
  return WIFEXITED(outcome.waitStatus) && WEXITSTATUS(outcome.waitStatus) == 0;
}

/// Returns the rank that made the run fail, if there is no doubt which rank
/// this is. Must be called only if the run has failed, and no rank has reported
/// an error to `pcc run`. There are two cases:
///
/// - `pcc run` started a single rank without a launcher. The result is this
///   rank.
/// - mpirun wrote a message to stderr that names the rank, such as "process
///   rank 2 with PID 4711 on node n1 exited on signal 9 (Killed)". The function
///   searches `outcome.noise` for this message. `outcome.noise` contains the
///   last lines that mpirun and the ranks wrote to stderr.
///
/// Otherwise returns std::nullopt.
static std::optional<LostRank> lostForSure(const LauncherOutcome &outcome) {
  const auto lost = lostDirectly(outcome);
  return lost ? lost : findLostRank(outcome.noise);
}

std::optional<LostRank> lostRank(const LauncherOutcome &outcome) {
  if (outcome.reported || outcome.interruptedBy || outcome.askedBy ||
      endedWell(outcome))
    return std::nullopt;
  const auto lost = lostForSure(outcome);
  return lost ? lost : lostFirst(outcome);
}

/// Returns the error of a run in which `pcc run` failed to write to its own
/// stdout. This error is `outcome.stdoutFailure`. A rank may also have written
/// an error report, `outcome.reported`. In this case, adds the message of the
/// report, and each note of the report, to the returned error as notes. The
/// user thus sees both errors.
static Status describeStdout(const LauncherOutcome &outcome) {
  Status status = outcome.stdoutFailure;
  if (!outcome.reported)
    return status;
  status.addNote(outcome.reported->message());
  for (const std::string &note : outcome.reported->notes())
    status.addNote(note);
  return status;
}

static Status endedBy(int signal) {
  return Status::error(endedBySignal(signal),
                       "the run was ended by " + signalText(signal));
}

/// Tests several conditions on `outcome`, one after another. The first
/// condition that is true determines the result. The declaration of
/// translateOutcome() in LauncherOutcome.h lists the conditions in the order of
/// the tests.
///
/// The order is important if two conditions are true. For example, a rank wrote
/// an error into the directory that the ranks share with `pcc run`. `pcc run`
/// also received a signal. The condition about the error of a rank comes before
/// the condition about a signal, so the result is the error of the rank.
Status translateOutcome(const LauncherOutcome &outcome) {
  if (outcome.stdoutFailure.failed())
    return describeStdout(outcome);
  if (outcome.reported)
    return *outcome.reported;
  if (outcome.isReaderGone)
    return Status::error(endedBySignal(SIGPIPE),
                         "the reader of stdout is gone");
  if (!outcome.exceeded.empty())
    return withNoise(
        Status::error(PeerLost, outcome.launcher + " " + outcome.exceeded),
        outcome.noise);
  if (outcome.interruptedBy)
    return endedBy(outcome.interruptedBy);
  const bool isCertain = !outcome.isOnOneHost || outcome.started;
  if (endedWell(outcome) && isCertain && !outcome.someStay)
    return Status::success();
  if (endedWell(outcome))
    return describeLauncher(outcome);
  if (outcome.askedBy)
    return endedBy(outcome.askedBy);
  if (auto lost = lostForSure(outcome))
    return withNoise(describeLost(*lost, outcome.isStarting),
                     lost->signal ? std::deque<std::string>() : outcome.noise);
  // lostFirst() guesses the lost rank: it returns the rank whose process ended
  // first. The guess may be wrong, so also show the last lines that the
  // launcher wrote to stderr.
  if (auto lost = lostFirst(outcome))
    return withNoise(describeLost(*lost, outcome.isStarting), outcome.noise);
  return describeLauncher(outcome);
}

} // namespace pcc::runtime
