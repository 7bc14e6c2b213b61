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
/// lines are intercepted. The last 200 other lines are kept to explain a
/// failure.
class LauncherOutput {
public:
  /// Consumes output as it was read, in pieces of any size. Returns the
  /// complete lines to pass on.
  std::string take(std::string_view text);
  /// Consumes the last line if it has no newline. Returns it if it is to be
  /// passed on.
  std::string takeRest();

  /// Returns the latest progress message since the previous call, if any.
  std::optional<std::string> takeProgress();

  /// Returns the kept lines, oldest first.
  const std::deque<std::string> &noise() const { return keptLines; }

private:
  /// Sorts one line; appends it to `passed` if it is for the user.
  void takeLine(std::string line, std::string &passed);

  /// The beginning of a line whose newline has not arrived.
  std::string partialLine;
  std::deque<std::string> keptLines;
  std::optional<std::string> progress;
};

/// Returns the line by which a rank tells `pcc run` its progress.
std::string progressLine(const std::string &what);

/// A rank that ended early, as Open MPI's mpirun reports it.
struct LostRank {
  int rank = 0;
  /// Signal that ended the rank; 0 if it exited.
  int signal = 0;
  /// Exit code of the rank, if `signal` is 0.
  int exitCode = 0;
};

/// Finds mpirun's message about a lost rank among `noise`: "process rank 2 …
/// exited on signal 9 (Killed)", or "Process name: [[1,1],2]" with "Exit code:
/// 3".
std::optional<LostRank> findLostRank(const std::deque<std::string> &noise);

/// Returns the first line that has letters or digits; empty if there is none.
std::string firstStatement(const std::deque<std::string> &noise);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTPUT_H
