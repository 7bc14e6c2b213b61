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
  /// - A rank creates a file in the status folder. The status folder is a
  ///   directory that `pcc run` creates for each run. For example, each rank
  ///   creates a file in the status folder when the rank starts.
  /// - The process of a rank ends.
  ///
  /// The caller waits for this file descriptor, and then calls
  /// RankWatch::poll(), which handles the event.
  int fd() const { return epollFd; }
  /// Processes all pending events without blocking. There are two kinds of
  /// events:
  ///
  /// - A rank has created a file in the status folder, a directory that
  ///   `pcc run` creates for each run. The name of the file can be a message:
  ///   the rank has started, or the rank has detected that the process of
  ///   another rank has ended too early. poll() stores the content of the
  ///   message in this object.
  /// - The process of a rank has ended. poll() records that the rank has ended.
  void poll();

  /// Sends `signal` to all ranks whose process is running. Returns whether any
  /// process received the signal.
  bool signalAll(int signal);

  /// Returns whether at least one rank has started. A rank that starts creates
  /// a file in the directory that the ranks share with `pcc run`. The result is
  /// true if RankWatch has found at least one of these files.
  bool started() const { return !known.empty(); }
  /// Returns whether the process of at least one rank is running.
  bool anyRuns() const;
  /// Returns the rank that has probably caused the end of the run. There are
  /// three cases:
  ///
  /// - A rank has detected that the process of another rank ended too early.
  ///   For example, rank 1 has detected the end of rank 3. Rank 1 then created
  ///   a file with the name "lost.3", which RankWatch has found. The result is
  ///   rank 3, even if the process of rank 1 ended first.
  /// - RankWatch has found no file of this kind, but the process of at least
  ///   one rank has ended. The result is the rank whose process ended first.
  /// - Otherwise the result is std::nullopt.
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
  /// events:
  ///
  /// - A rank creates a file in the status folder, a directory that `pcc run`
  ///   creates for each run. For example, each rank creates a file when it
  ///   starts.
  /// - The process of a rank ends.
  int epollFd;
  /// File descriptor of an inotify instance. The inotify instance reports new
  /// files in the status folder, a directory that `pcc run` creates for each
  /// run. The ranks create the files.
  int inotifyFd;
  /// For each rank that has started: the pidfd of its process; -1 once the
  /// process has ended.
  std::map<int, int> known;
  /// The rank whose process ended first.
  std::optional<int> first;
  /// The rank that another rank has reported as lost; std::nullopt if there is
  /// none. A rank is lost if its process ends too early: before the rank has
  /// finished its work, and before the rank has sent an error to another rank.
  /// For example, rank 1 detects that rank 3 is lost. Rank 1 then creates a
  /// file with the name "lost.3" in the directory `folder`, which the ranks
  /// share with `pcc run`.
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
