//===- LauncherOutput.h - filter for the stderr of a launcher -------------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTPUT_H
#define PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTPUT_H

#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// Filter for the stderr that the ranks and their launcher share. Lines that
/// ranks write for the user ("pcc:", "note:", "rank ") are passed on. Progress
/// lines are removed and kept for takeProgress(). The last 200 of all other
/// lines are kept to explain a failure.
class LauncherOutput {
public:
  /// Filters `text`, the next piece of stderr, which may end within a line.
  /// Returns the lines that are complete and that are to be passed on to the
  /// user.
  std::string take(std::string_view text);
  /// Filters the last line if it has no newline. Returns this line if it is to
  /// be passed on to the user, otherwise an empty string.
  std::string takeRest();

  /// Returns the latest progress message that has arrived since the previous
  /// call; std::nullopt if none has.
  std::optional<std::string> takeProgress();

  /// Returns the lines that were neither passed on nor progress, oldest first;
  /// at most 200.
  const std::deque<std::string> &noise() const { return keptLines; }

private:
  /// Filters one complete line: appends it to `passed` if it is for the user,
  /// stores it as the progress message, or keeps it as another line.
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

/// Finds mpirun's message about a lost rank among the lines `noise`, and
/// returns that rank. The message is "process rank 2 … exited on signal 9
/// (Killed)", or "Process name: [[1,1],2]" with "Exit code: 3". Returns
/// std::nullopt if there is no such message.
std::optional<LostRank> findLostRank(const std::deque<std::string> &noise);

/// Returns the first paragraph of the lines `noise`, joined by spaces: from the
/// first line with letters or digits to the line before the next one without;
/// at most five lines. Returns an empty string if there is none.
std::string firstStatement(const std::deque<std::string> &noise);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTPUT_H
