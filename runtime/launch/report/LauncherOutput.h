//===- LauncherOutput.h - what a launcher writes to stderr ----------------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTPUT_H
#define PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTPUT_H

#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// Splits the stderr that ranks and launcher share into lines: those that ranks
/// mean for the user go on, the rest is kept for when something fails.
class LauncherOutput {
public:
  /// Takes what was read, and returns the lines to pass on.
  std::string take(std::string_view text);
  /// Takes the line that nobody has ended.
  std::string takeRest();

  /// What a rank has said last of its progress since this was asked.
  std::optional<std::string> takeProgress();

  /// The latest lines that were not passed on, oldest first.
  const std::deque<std::string> &noise() const { return keptLines; }

private:
  void takeLine(std::string line, std::string &passed);

  std::string partialLine;
  std::deque<std::string> keptLines;
  std::optional<std::string> progress;
};

/// The line on stderr that tells `pcc run` of progress.
std::string progressLine(const std::string &what);

/// A rank that ended before its time, as Open MPI's mpirun tells it.
struct LostRank {
  int rank = 0;
  int signal = 0;   ///< 0 if it exited
  int exitCode = 0; ///< if it exited
};

/// Looks for "process rank 2 … exited on signal 9 (Killed)", or for
/// "Process name: [[1,1],2]" and "Exit code: 3".
std::optional<LostRank> findLostRank(const std::deque<std::string> &noise);

/// The first line that says something.
std::string firstStatement(const std::deque<std::string> &noise);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_LAUNCHEROUTPUT_H
