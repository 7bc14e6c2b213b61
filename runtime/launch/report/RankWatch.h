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

/// Watches the processes of all ranks of a job on this host.
class RankWatch {
public:
  /// Watches the status folder, in which ranks announce themselves.
  explicit RankWatch(std::string statusFolder);
  RankWatch(const RankWatch &) = delete;
  RankWatch &operator=(const RankWatch &) = delete;
  ~RankWatch();

  /// Returns a file that is readable while poll() has events to handle.
  int fd() const { return epollFd; }
  /// Handles all pending events, without blocking: new ranks, and ranks that
  /// ended.
  void poll();

  /// Sends `signal` to all ranks that are running. Returns whether any received
  /// it.
  bool signalAll(int signal);

  /// Returns whether any rank has announced itself.
  bool started() const { return !known.empty(); }
  /// Returns the rank that caused the end: the one that other ranks have lost,
  /// else the one whose process ended first. Empty if none has ended.
  std::optional<int> firstEnded() const { return lost ? lost : first; }

private:
  /// Reads the announcements in the folder.
  void findNewRanks();
  /// Begins to watch a rank's process.
  void watch(int rank, int pid);
  /// Records that a rank's process has ended.
  void noteEnd(int rank);

  /// The status folder.
  const std::string folder;
  /// Waits for the folder and for all processes.
  int epollFd;
  /// Reports new files in the folder.
  int inotifyFd;
  /// Per announced rank its pidfd; -1 once it has ended.
  std::map<int, int> known;
  /// The rank whose process ended first.
  std::optional<int> first;
  /// The rank that another rank has reported as lost.
  std::optional<int> lost;
};

/// Announces this process to the RankWatch of `statusFolder`. Called by each
/// rank.
void announceRank(const std::string &statusFolder, int rank);
/// Tells the RankWatch of `statusFolder` that `lostRank` ended without a
/// report. Called by a rank that noticed it.
void announceLoss(const std::string &statusFolder, int lostRank);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_RANKWATCH_H
