//===- RankTeam.h - all ranks of a bundle, told what to do ----------------===//

#ifndef PCC_RUNTIME_LAUNCH_THREAD_RANKTEAM_H
#define PCC_RUNTIME_LAUNCH_THREAD_RANKTEAM_H

#include "runtime/engine/Rank.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace pcc::runtime {

/// The ranks of a bundle as threads of this process, which wait for what they
/// are to do together:
///
///   call(task)   rank 0  task ─┐        task ─┐
///                rank 1  task ─┴ wait   task ─┴ wait
///
/// One thread at a time calls; any may abort. Where a rank fails, all end.
class RankTeam {
public:
  using Task = std::function<Status(Rank &)>;

  RankTeam() = default;
  RankTeam(const RankTeam &) = delete;
  RankTeam &operator=(const RankTeam &) = delete;
  ~RankTeam() { end(); }

  /// Starts the ranks; the first call. Nothing of the program is loaded yet.
  Status start(const std::string &bundle, RunOptions options);

  /// Every rank runs `task`; returns when all have. The error of the rank that
  /// fails first wakes all others, ends the run and is that of all later calls.
  /// `onWait`, if there is one, is called ten times a second until then.
  Status call(const Task &task, const std::function<void()> &onWait = {});

  /// As `call`, of a task in which ranks do not meet: its error, that of the
  /// lowest rank, ends nothing.
  Status callApart(const Task &task);

  /// Ends the run: a rank that waits for another is woken, one that computes
  /// ends with its step.
  void abort(const Status &reason);

  /// Ends the ranks, between two calls, and waits for that.
  void end();

  int size() const { return int(images.size()); }

private:
  Status serve(World &world);
  Status openDevice(const ProgramImage &image, int rank,
                    std::unique_ptr<Device> &device) const;
  Status leave(World &world, Status status);
  bool awaitTask(uint64_t round, Status &ended);
  void endTask();
  Status reason() const;

  std::string bundleFolder;
  RunOptions options;
  std::vector<const ProgramImage *> images;
  std::atomic<bool> isGivenUp{false};

  std::mutex mutex; ///< of everything below
  std::condition_variable changed;
  const Task *task = nullptr;
  uint64_t rounds = 0; ///< tasks so far
  int numBusy = 0;
  std::vector<World *> worlds; ///< of the ranks that are there
  bool isEnding = false;
  bool isOver = false;
  Status result; ///< of the run, when it is over
  Status aborted;

  std::thread keeper; ///< last: it uses the others
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_THREAD_RANKTEAM_H
