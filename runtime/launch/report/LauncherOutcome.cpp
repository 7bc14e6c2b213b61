//===- LauncherOutcome.cpp - cause and exit code of a failed launch -------===//

#include "runtime/launch/report/LauncherOutcome.h"

#include <cstring>
#include <sys/wait.h>

namespace pcc::runtime {

static std::string describeSignal(int number) {
  const char *name = strsignal(number);
  return "signal " + std::to_string(number) + " (" + (name ? name : "?") + ")";
}

/// Returns whether `code` is one of the exit codes that pcc documents.
static bool isOfInterface(int code) {
  return (code >= Defect && code <= InputOutput) ||
         (code >= BadInput && code <= ValuesDiffer);
}

/// Appends the last eight lines of `noise` (the launcher's other output) as
/// notes to `status`.
static Status withNoise(Status status, const std::deque<std::string> &noise) {
  constexpr size_t shown = 8;
  const size_t first = noise.size() > shown ? noise.size() - shown : 0;
  for (size_t i = first; i < noise.size(); ++i)
    if (!noise[i].empty() && noise[i].find("----") == std::string::npos)
      status.addNote(noise[i]);
  return status;
}

/// Returns the error for a lost rank, which ended by a signal or without an
/// error report.
static Status describeLost(const LostRank &lost) {
  const std::string rank = "rank " + std::to_string(lost.rank);
  if (lost.signal)
    return Status::error(PeerLost, rank + " was lost: it was ended by " +
                                       describeSignal(lost.signal));
  const int code = isOfInterface(lost.exitCode) ? lost.exitCode : Defect;
  return Status::error(ExitCode(code), rank + " ended with exit code " +
                                           std::to_string(lost.exitCode) +
                                           " and without a message");
}

/// Returns how the only rank ended, if pcc started this rank without a
/// launcher. Otherwise returns std::nullopt.
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

/// Returns the rank whose process ended first, which probably caused the
/// failure. Its exit code or signal is that of the launcher (128 plus the
/// signal for a killed rank). Returns std::nullopt in these cases:
///
/// - No rank's end is known.
/// - All ranks finished their work.
/// - The launcher itself was killed.
static std::optional<LostRank> lostFirst(const LauncherOutcome &outcome) {
  if (!outcome.firstEnded || outcome.allLeft || !WIFEXITED(outcome.waitStatus))
    return std::nullopt;
  const int code = WEXITSTATUS(outcome.waitStatus);
  LostRank lost;
  lost.rank = *outcome.firstEnded;
  (code > 128 ? lost.signal : lost.exitCode) = code > 128 ? code - 128 : code;
  return lost;
}

/// Returns the error for a launcher that failed, if no lost rank is known.
static Status describeLauncher(const LauncherOutcome &outcome) {
  const std::string end =
      WIFSIGNALED(outcome.waitStatus)
          ? "was ended by " + describeSignal(WTERMSIG(outcome.waitStatus))
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
  return Status::error(
      NoDevice,
      outcome.launcher + " did not start the ranks and " + end +
          (reason.empty() ? "" : ": " + reason),
      {"ranks as processes need Open MPI 4.1; --comm thread runs without"});
}

/// Returns whether the launcher exited with code 0.
static bool endedWell(const LauncherOutcome &outcome) {
  return WIFEXITED(outcome.waitStatus) && WEXITSTATUS(outcome.waitStatus) == 0;
}

/// Returns the lost rank if it is certain: the only rank, or the rank that the
/// launcher's output names. Otherwise returns std::nullopt.
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

/// Returns the error of stdout, with the ranks' own report as notes.
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
                       "the run was ended by " + describeSignal(signal));
}

/// The tests are in the order of the cases that LauncherOutcome.h lists.
Status translateOutcome(const LauncherOutcome &outcome) {
  if (outcome.stdoutFailure.failed())
    return describeStdout(outcome);
  if (outcome.reported)
    return *outcome.reported;
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
    return describeLost(*lost);
  // The lost rank is a guess here, so add the launcher's last output.
  if (auto lost = lostFirst(outcome))
    return withNoise(describeLost(*lost), outcome.noise);
  return describeLauncher(outcome);
}

} // namespace pcc::runtime
