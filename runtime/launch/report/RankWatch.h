//===- RankWatch.h - detects which rank of a job ended first --------------===//
//
// When a rank dies, the launcher ends the other ranks, and does not always
// report which rank died first. pcc finds that rank from two sources:
//
// - Each rank writes its process id into the status folder. The kernel reports
//   the ends of processes, through pidfds, in the order in which they happen.
// - A process closes its sockets shortly before it ends. Other ranks may detect
//   that, and end before this process does. They write the number of the lost
//   rank into the status folder, which takes precedence.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_RANKWATCH_H
#define PCC_RUNTIME_LAUNCH_REPORT_RANKWATCH_H

#include <map>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Watches the processes of all ranks of a job on this host: detects when ranks
/// start and end, and sends signals to them.
class RankWatch {
public:
  /// Begins to watch the directory `statusFolder`. Each rank that starts
  /// creates a file there, named after its rank and process id (announceRank).
  explicit RankWatch(std::string statusFolder);
  RankWatch(const RankWatch &) = delete;
  RankWatch &operator=(const RankWatch &) = delete;
  ~RankWatch();

  /// Returns a file descriptor that becomes readable at two events:
  ///
  /// - A rank creates a file in the status folder.
  /// - The process of a rank ends.
  ///
  /// The caller waits for this file descriptor, and then calls
  /// RankWatch::poll(), which handles the event.
  int fd() const { return epollFd; }
  /// Processes all pending events without blocking: new files of ranks that
  /// have started, and ranks whose process has ended.
  void poll();

  /// Sends `signal` to all ranks whose process is running. Returns whether any
  /// process received the signal.
  bool signalAll(int signal);

  /// Returns whether any rank has started (has created its file in the status
  /// folder).
  bool started() const { return !known.empty(); }
  /// Returns the number of ranks that have started and ended.
  int numEnded() const;
  /// Returns the rank that has probably caused the end of the run. If a rank
  /// has reported the loss of another rank by a file in the status folder,
  /// returns the lost rank. Otherwise, returns the rank whose process ended
  /// first. The report has priority, because the rank that has written the
  /// report can end before the lost rank ends. Returns std::nullopt if there is
  /// no report and no rank has ended.
  std::optional<int> firstEnded() const { return lost ? lost : first; }

private:
  /// Searches the status folder for files that the ranks have created. The name
  /// of a file is a message:
  ///
  /// - "alive.3.4711" means that rank 3 has started, and that its process has
  ///   the id 4711. Begins to watch this process, unless the process is watched
  ///   already.
  /// - "lost.3" means that another rank has noticed the end of rank 3. Stores 3
  ///   in `lost`, unless `lost` has a value already.
  void findNewRanks();
  /// Begins to watch process `pid`, which runs rank `rank`.
  void watch(int rank, int pid);
  /// Records that a rank's process has ended.
  void noteEnd(int rank);

  /// The status folder.
  const std::string folder;
  /// File descriptor of the epoll instance. The epoll instance reports two
  /// events: a new file appears in the status folder, or the process of a rank
  /// ends.
  int epollFd;
  /// File descriptor of the inotify instance that reports new files in the
  /// status folder.
  int inotifyFd;
  /// For each rank that has started: the pidfd of its process; -1 once the
  /// process has ended.
  std::map<int, int> known;
  /// The rank whose process ended first.
  std::optional<int> first;
  /// The rank that another rank has reported as lost; std::nullopt if there is
  /// none. A rank is lost if its process ends too early: before the rank has
  /// finished its work, and before the rank has sent an error to another rank.
  /// Another rank reports the loss of rank 3 by a file with the name "lost.3"
  /// in the status folder.
  std::optional<int> lost;
};

/// Creates a file in `statusFolder` whose name contains `rank` and the id of
/// this process. RankWatch then watches the process. Every rank calls this
/// function when it starts.
void announceRank(const std::string &statusFolder, int rank);
/// Reports that the process of rank `lostRank` has ended without an error
/// report. Another rank, which has noticed this, calls the function. The
/// function creates an empty file in `statusFolder`. The name of the file
/// contains the rank: for example, "lost.3" means rank 3. RankWatch finds the
/// file.
void announceLoss(const std::string &statusFolder, int lostRank);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_RANKWATCH_H
