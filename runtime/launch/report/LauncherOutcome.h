//===- LauncherOutcome.h - cause and exit code of a failed launch ---------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTCOME_H
#define PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTCOME_H

#include "runtime/launch/report/LauncherOutput.h"
#include "status/Status.h"

#include <deque>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Facts about one execution of a bundle by `pcc run`, at the end of the
/// execution: how the launcher's process ended, and what is known about the
/// ranks. From these facts, `pcc run` finds the cause of a failure.
///
/// The launcher is the process that starts the ranks. There are three cases:
///
/// - mpirun starts several ranks on CPUs.
/// - The executable `run` in the bundle starts several ranks on GPUs.
/// - `pcc run` starts a single rank without a launcher. The fields for the
///   launcher's process then describe the rank's process.
struct LauncherOutcome {
  /// Name of the launcher for messages; "rank 0" for a single rank without a
  /// launcher.
  std::string launcher = "mpirun";
  /// Exit status of the launcher's process, as waitpid() returns it.
  int waitStatus = 0;
  /// Whether at least one rank has started. `pcc run` creates a folder for each
  /// run, the status folder. A rank that starts creates a file in this folder.
  /// The value is true if `pcc run` has found at least one of these files.
  bool started = false;
  /// The rank whose process ended first, if known.
  std::optional<int> firstEnded = {};
  /// Whether all ranks have finished their work. Each rank has a flight
  /// recorder, a log file of its activities, in which the rank records that it
  /// has finished. The value is false if the flight recorder of at least one
  /// rank was not found.
  bool allLeft = false;
  /// Whether at least one rank has not finished its work. Each rank has a
  /// flight recorder, a log file of its activities, in which the rank records
  /// that it has finished. There are three cases:
  ///
  /// - `pcc run` has found the flight recorders of all ranks. At least one
  ///   rank has not recorded that it has finished. The value is true.
  /// - `pcc run` has found the flight recorders of all ranks. All ranks have
  ///   recorded that they have finished. The value is false.
  /// - `pcc run` has not found the flight recorder of at least one rank. The
  ///   value is false, because `pcc run` does not know whether this rank has
  ///   finished.
  bool someStay = false;
  /// Whether all ranks are still starting. Each rank has a flight recorder, a
  /// log file of its activities. The first activity of a rank has the name
  /// "start". In this activity, the rank starts MPI. The value is true if no
  /// flight recorder contains another activity. If a rank has ended without an
  /// error report, and this value is true, pcc assumes that MPI could not
  /// start.
  bool isStarting = false;
  /// Whether all ranks run on the host of `pcc run`. pcc assumes this unless
  /// `pcc run` is part of a job of a batch scheduler such as Slurm.
  ///
  /// A rank that starts creates a file in the status folder. The status folder
  /// is a local directory on the host of `pcc run`, so a rank on another host
  /// cannot create the file there. The field `started` is true if `pcc run` has
  /// found the file of at least one rank. If all ranks run on other hosts,
  /// `started` is therefore false, although ranks have started.
  bool isOnOneHost = true;
  /// Text about a deadline that the launcher missed; empty if the launcher
  /// missed no deadline. An error message consists of the launcher's name and
  /// this text. For example, the name is "mpirun" and the text is "did not
  /// start a rank within 600 s".
  std::string exceeded = {};
  /// Error with which `pcc run` failed to write the output of the ranks to its
  /// own stdout. The value is success in two cases:
  ///
  /// - `pcc run` wrote all output.
  /// - The process that read the output ended early. For example, `head` ends
  ///   early in `pcc run BUNDLE | head`.
  Status stdoutFailure = {};
  /// Whether the process that read the stdout of `pcc run` ended early, and
  /// output of the ranks was lost.
  bool isReaderGone = false;
  /// Number of the signal to `pcc run`, such as SIGINT, because of which
  /// `pcc run` ended the launcher. The value is 0 if there was no such signal.
  /// There are two cases:
  ///
  /// - `pcc run` received the signal while no rank was running. `pcc run` then
  ///   sent SIGTERM to the launcher.
  /// - `pcc run` received a second signal while the ranks were ending.
  ///   `pcc run` then killed the launcher. The value is the number of the first
  ///   signal.
  int interruptedBy = 0;
  /// Number of the signal, such as SIGINT, that `pcc run` received while ranks
  /// were running; `pcc run` then sent SIGTERM to these ranks. The value is 0
  /// if there was no such signal. The value is also 0 if `pcc run` received a
  /// second signal and killed the launcher: `interruptedBy` then contains the
  /// first signal.
  int askedBy = 0;
  /// The error of the first rank that failed. `pcc run` creates a folder for
  /// each run, and a rank that fails writes its error into this folder, unless
  /// another rank has already written an error. The value is std::nullopt if no
  /// rank has written an error.
  std::optional<Status> reported = {};
  /// The last lines, at most 200, that the launcher and the ranks wrote to
  /// stderr, oldest first. Progress messages and training steps of rank 0 are
  /// left out. Lines that begin with "pcc:", "note:" or "pcc-table: " are also
  /// left out, because `pcc run` has already shown them to the user.
  std::deque<std::string> noise = {};
};

/// Returns the rank whose process ended without an error report, and thus made
/// the run fail. An error report is a file into which a rank that fails writes
/// its error. The launcher is the process that starts the ranks, such as
/// mpirun. If there are several ranks, and no message of the launcher names the
/// rank, the result is a guess: the rank whose process ended first. Returns
/// std::nullopt in these cases:
///
/// - The launcher exited with code 0.
/// - A rank wrote an error report.
/// - A signal to `pcc run`, such as SIGINT, ended the run.
/// - No message names the rank, and lostRank() cannot guess the rank.
std::optional<LostRank> lostRank(const LauncherOutcome &outcome);

/// Returns the error of the run that `pcc run` shows to the user, or success.
/// The first true condition determines the result (exit code in parentheses):
///
/// 1. `pcc run` failed to write to its own stdout (7).
/// 2. A rank reported an error (the exit code of this error).
/// 3. The launcher, which starts the ranks, missed a deadline (14).
/// 4. `pcc run` received a signal and ended the launcher (128 + signal).
/// 5. The launcher exited with code 0: success, unless no rank started although
///    all ranks run on this host (13), or a rank did not finish its work (14).
/// 6. `pcc run` passed a signal on to the ranks (128 + signal).
/// 7. A rank ended without an error report: 14 if a signal killed the rank; the
///    exit code of the rank if pcc documents this code and it is not 1;
///    otherwise 13 if all ranks were still starting, else 14.
/// 8. The launcher failed otherwise: 14 if a rank had started, else 13.
Status translateOutcome(const LauncherOutcome &outcome);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTCOME_H
