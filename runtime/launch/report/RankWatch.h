//===- RankWatch.h - detects which rank of a job ended first --------------===//
//
// When a rank dies, the launcher ends the other ranks, and does not always say
// which rank was the first. Two sources tell:
//
// - Each rank leaves its process id in the status folder. The kernel reports
//   the ends of processes, through pidfds, in the order in which they happen.
// - A process closes its sockets shortly before it ends, so other ranks may
//   notice that and end first. The ranks that noticed it leave the number of
//   the lost rank, which takes precedence.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_RANKWATCH_H
#define PCC_RUNTIME_LAUNCH_REPORT_RANKWATCH_H

#include <map>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Watches the processes of all ranks of a job on this host: notices when ranks
/// start and end, and sends signals to them.
class RankWatch {
public:
  /// Begins to watch `statusFolder`, the directory in which each rank announces
  /// its process.
  explicit RankWatch(std::string statusFolder);
  RankWatch(const RankWatch &) = delete;
  RankWatch &operator=(const RankWatch &) = delete;
  ~RankWatch();

  /// Returns a file descriptor that is readable while poll() has events to
  /// process.
  int fd() const { return epollFd; }
  /// Processes all pending events without blocking: ranks that have announced
  /// themselves, and ranks whose process has ended.
  void poll();

  /// Sends `signal` to all ranks whose process is running. Returns whether any
  /// process received the signal.
  bool signalAll(int signal);

  /// Returns whether any rank has announced its process.
  bool started() const { return !known.empty(); }
  /// Returns the rank that caused the end of the run: the rank that another
  /// rank has reported as lost; otherwise the rank whose process ended first.
  /// std::nullopt if no rank has ended.
  std::optional<int> firstEnded() const { return lost ? lost : first; }

private:
  /// Reads the announcements in the status folder, and begins to watch ranks
  /// that are new.
  void findNewRanks();
  /// Begins to watch process `pid`, which runs rank `rank`.
  void watch(int rank, int pid);
  /// Records that a rank's process has ended.
  void noteEnd(int rank);

  /// The status folder.
  const std::string folder;
  /// File descriptor of the epoll instance that waits for the status folder and
  /// for all processes.
  int epollFd;
  /// File descriptor of the inotify instance that reports new files in the
  /// status folder.
  int inotifyFd;
  /// Per announced rank: the pidfd of its process; -1 once the process has
  /// ended.
  std::map<int, int> known;
  /// The rank whose process ended first.
  std::optional<int> first;
  /// The rank that another rank has reported as lost.
  std::optional<int> lost;
};

/// Announces this process, which runs rank `rank`, to the RankWatch of
/// `statusFolder`. Every rank calls this when it starts.
void announceRank(const std::string &statusFolder, int rank);
/// Reports to the RankWatch of `statusFolder` that the process of rank
/// `lostRank` ended without a report. Called by a rank that noticed the loss.
void announceLoss(const std::string &statusFolder, int lostRank);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_RANKWATCH_H
