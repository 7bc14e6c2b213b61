//===- RankWatch.h - which rank ended first -------------------------------===//
//
// When a rank dies, the launcher ends the others and does not always say who
// began. The ranks leave their process ids in the status folder, and the kernel
// queues the ends of processes in the order in which they happen. A process
// that ends closes its files a little before: ranks that see that may be gone
// first, so they leave the number of whom they have lost.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_RANKWATCH_H
#define PCC_RUNTIME_LAUNCH_REPORT_RANKWATCH_H

#include <map>
#include <optional>
#include <string>

namespace pcc::runtime {

class RankWatch {
public:
  /// Watches the folder that ranks announce themselves in.
  explicit RankWatch(std::string statusFolder);
  RankWatch(const RankWatch &) = delete;
  RankWatch &operator=(const RankWatch &) = delete;
  ~RankWatch();

  /// Readable when there is something for poll().
  int fd() const { return epollFd; }
  void poll();

  /// Sends a signal to all ranks that are there; whether there are any.
  bool signalAll(int signal);

  /// Whether any rank came to life.
  bool started() const { return !known.empty(); }
  std::optional<int> firstEnded() const { return lost ? lost : first; }

private:
  void findNewRanks();
  void watch(int rank, int pid);
  void noteEnd(int rank);

  const std::string folder;
  int epollFd;
  int inotifyFd;
  std::map<int, int> known; ///< rank to pidfd, -1 once it has ended
  std::optional<int> first;
  std::optional<int> lost; ///< as the others say
};

/// Leaves this process's id where RankWatch looks for it.
void announceRank(const std::string &statusFolder, int rank);
/// Tells RankWatch that another rank has ended without a word.
void announceLoss(const std::string &statusFolder, int lostRank);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_RANKWATCH_H
