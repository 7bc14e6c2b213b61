//===- LauncherOutput.h - filter for the stderr of a launcher -------------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTPUT_H
#define PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTPUT_H

#include "runtime/base/TrainingLine.h"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::runtime {

/// Sorts the lines that the launcher and the ranks write to stderr. The
/// launcher is the process that starts the ranks, such as mpirun. There are
/// three kinds of lines:
///
/// - Lines for the user begin with "pcc:", "note:" or "pcc-table: ". take()
///   returns these lines, without the prefix "pcc-table: ".
/// - Progress messages of rank 0 begin with "pcc-progress: ". takeProgress()
///   returns the latest message.
/// - noise() returns the last 200 of all other lines. `pcc run` uses them to
///   explain a failure.
class LauncherOutput {
public:
  /// Processes `text`, the next bytes that the launcher and the ranks wrote to
  /// stderr. The launcher is the process that starts the ranks. Returns the
  /// complete lines that begin with "pcc:", "note:" or "pcc-table: ", because
  /// `pcc run` shows these lines to the user. Stores all other lines for
  /// takeProgress() and noise(). If `text` ends in the middle of a line, the
  /// next call of take() continues this line.
  std::string take(std::string_view text);
  /// Processes the last line of stderr, if this line has no newline at its end.
  /// Must be called after the last call of take(). If the line begins with
  /// "pcc:", "note:" or "pcc-table: ", returns the line with a newline, because
  /// `pcc run` shows such lines to the user. Otherwise stores the line for
  /// takeProgress() or noise(), and returns an empty string. Also returns an
  /// empty string if the last line has a newline.
  std::string takeRest();

  /// Returns the latest progress message of rank 0, if a message has arrived
  /// since the previous call of takeProgress(). Otherwise, returns
  /// std::nullopt. A progress message is the text after "pcc-progress: " in a
  /// line of stderr.
  std::optional<std::string> takeProgress();

  /// Returns the training steps of rank 0 that have arrived since the previous
  /// call, in their order.
  std::vector<TrainingLine> takeSteps();

  /// Returns the last lines of stderr, at most 200, oldest first. Leaves out
  /// the lines that other functions return:
  ///
  /// - take() returns lines that begin with "pcc:", "note:" or "pcc-table: ".
  /// - takeProgress() returns progress messages.
  /// - takeSteps() returns training steps.
  const std::deque<std::string> &noise() const { return keptLines; }

private:
  /// Processes `line`, one complete line of stderr. There are four cases:
  ///
  /// - `line` begins with "pcc-progress: ": stores the rest of the line in
  ///   `progress`.
  /// - `line` begins with "pcc-step: ": appends the training step to `steps`.
  /// - `line` begins with "pcc:", "note:" or "pcc-table: ": appends the line to
  ///   `passed`, the text that take() returns.
  /// - All other lines: appends the line to `keptLines`. If `keptLines` then
  ///   has more than 200 lines, removes the oldest line.
  void takeLine(std::string line, std::string &passed);

  /// The beginning of a line of stderr whose newline has not arrived yet.
  std::string partialLine;
  std::deque<std::string> keptLines;
  std::optional<std::string> progress;
  std::vector<TrainingLine> steps;
};

/// Returns a line that contains the progress message `what`. For example,
/// "loading weights" gives the line "pcc-progress: loading weights" with a
/// newline. Rank 0 writes the line to stderr, and `pcc run` reads the line and
/// displays the message.
std::string progressLine(const std::string &what);

/// Returns a line with the metrics of a training step for `pcc run`. Rank 0
/// writes it to stderr.
std::string trainingStepLine(const TrainingLine &line);

/// Returns the lines of `table` with the prefix "pcc-table: ". Rank 0 writes
/// them to stderr, and `pcc run` shows them without the prefix.
std::string tableLines(const std::string &table);

/// A rank whose process ended early, as Open MPI's mpirun reports it.
struct LostRank {
  int rank = 0;
  /// Number of the signal that killed the rank; 0 if the rank exited.
  int signal = 0;
  /// Exit code of the rank, if `signal` is 0.
  int exitCode = 0;
};

/// Searches `noise` for a message of mpirun about a rank that failed, and
/// returns this rank with its signal or exit code. `noise` contains lines that
/// mpirun and the ranks wrote to stderr. There are two kinds of messages, shown
/// here for rank 2:
///
/// - "process rank 2 with PID 4711 on node n1 exited on signal 9 (Killed)":
///   signal 9 killed the rank.
/// - "Process name: [[1,1],2]", followed by the line "Exit code: 3": the rank
///   exited with code 3.
///
/// Returns std::nullopt if there is no such message, or if the exit code is 0.
std::optional<LostRank> findLostRank(const std::deque<std::string> &noise);

/// Returns the first paragraph of `noise` as a single line. `noise` contains
/// lines that mpirun wrote to stderr. A paragraph consists of successive lines
/// that contain a letter or a digit. The result contains the lines of the
/// paragraph, joined by spaces. The next paragraph belongs to the result, too,
/// if the first one ends with a colon, or if the next one is a list of details,
/// such as "  Component: ucx". Lines after the eighth are left out.
///
/// For example, `noise` has the lines "-----", "There are not enough", "slots."
/// and "-----". The result is "There are not enough slots." If no line contains
/// a letter or a digit, the result is an empty string.
std::string firstStatement(const std::deque<std::string> &noise);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTPUT_H
