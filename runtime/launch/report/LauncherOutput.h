//===- LauncherOutput.h - filter for the stderr of a launcher -------------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTPUT_H
#define PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTPUT_H

#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// Filter for the stderr of the launcher and its ranks:
///
/// - Lines for the user ("pcc:", "note:", "rank ") are passed on.
/// - Progress lines are kept for takeProgress().
/// - The last 200 other lines are kept, to explain a failure.
class LauncherOutput {
public:
  /// Filters `text`, the next piece of stderr, which may end within a line.
  /// Returns the complete lines for the user.
  std::string take(std::string_view text);
  /// Handles the end of stderr. If the last line has no newline, take() has not
  /// returned this line yet. takeRest() then returns the line and a newline if
  /// the line is for the user. Otherwise returns an empty string.
  std::string takeRest();

  /// Returns the latest progress message that has arrived since the previous
  /// call; std::nullopt if none has.
  std::optional<std::string> takeProgress();

  /// Returns up to 200 lines that are neither for the user nor progress, oldest
  /// first.
  const std::deque<std::string> &noise() const { return keptLines; }

private:
  /// Filters one complete line. Appends a line for the user to `passed`, and
  /// stores any other line.
  void takeLine(std::string line, std::string &passed);

  /// The beginning of a line of stderr whose newline has not arrived yet.
  std::string partialLine;
  std::deque<std::string> keptLines;
  std::optional<std::string> progress;
};

/// Returns the line of stderr by which rank 0 sends the progress message `what`
/// to `pcc run`.
std::string progressLine(const std::string &what);

/// A rank whose process ended early, as Open MPI's mpirun reports it.
struct LostRank {
  int rank = 0;
  /// Number of the signal that killed the rank; 0 if the rank exited.
  int signal = 0;
  /// Exit code of the rank, if `signal` is 0.
  int exitCode = 0;
};

/// Returns the rank in mpirun's message about a lost rank among the lines
/// `noise`. The message is "process rank 2 … exited on signal 9 (Killed)", or
/// "Process name: [[1,1],2]" with "Exit code: 3". Returns std::nullopt if there
/// is no such message.
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
