//===- LauncherOutcome.h - cause and exit code of a failed launch ---------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTCOME_H
#define PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTCOME_H

#include "runtime/launch/report/LauncherOutput.h"
#include "status/Status.h"

#include <deque>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Facts about a run at the end of its launcher process (mpirun, or
/// BUNDLE/run).
struct LauncherOutcome {
  /// Name of the launcher for messages; "rank 0" for a single rank without a
  /// launcher.
  std::string launcher = "mpirun";
  /// Exit status of the launcher's process, as waitpid() returns it.
  int waitStatus = 0;
  /// Whether any rank has started: its process id is in the status folder of
  /// `pcc run`.
  bool started = false;
  /// The rank whose process ended first, if known.
  std::optional<int> firstEnded = {};
  /// Whether every rank has recorded that it finished its work.
  bool allLeft = false;
  /// Whether the flight recorders (activity logs) of all ranks were found and
  /// some rank has not finished its work.
  bool someStay = false;
  /// Whether all ranks are on this host, so that `started` is known.
  bool isOnOneHost = true;
  /// Launcher's missed deadline, as the rest of a sentence such as "did not
  /// start a rank within 600 s"; empty if there is none.
  std::string exceeded = {};
  /// Error of this process's stdout. Success if stdout took all lines of the
  /// ranks, or if its reader went away.
  Status stdoutFailure = {};
  /// Number of the signal to `pcc run` that ended the launcher; 0 if there was
  /// none.
  int interruptedBy = 0;
  /// Number of the signal, such as SIGINT, that `pcc run` passed on to the
  /// ranks; 0 if there was none. The ranks then save and end.
  int askedBy = 0;
  /// The error that a rank wrote into the status folder, if any.
  std::optional<Status> reported = {};
  /// The last lines of the launcher's stderr that were not for the user, oldest
  /// first.
  std::deque<std::string> noise = {};
};

/// Returns the rank whose process ended without an error report, if it is
/// known. Returns std::nullopt in these cases:
///
/// - The run succeeded.
/// - A rank wrote an error report.
/// - A signal to `pcc run` ended the run.
std::optional<LostRank> lostRank(const LauncherOutcome &outcome);

/// Returns the one error of the run that the user sees, or success. The result
/// is that of the first case that applies (exit codes in parentheses):
///
/// 1. stdout that failed (7), with a report of the ranks as notes
/// 2. the error that a rank reported
/// 3. a deadline of the launcher that passed (14)
/// 4. a signal for which `pcc run` ended the launcher (128 plus the signal)
/// 5. a launcher that exited with 0: success, unless it did not start the ranks
///    (13), or left before them (14)
/// 6. a signal that `pcc run` passed on to the ranks (128 plus the signal)
/// 7. a rank that was killed by a signal (14), or that ended without a report
///    (its exit code if that is one of pcc's, else 1)
/// 8. a launcher that ended after it had started ranks (14)
/// 9. a launcher that did not start the ranks (13)
Status translateOutcome(const LauncherOutcome &outcome);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTCOME_H
