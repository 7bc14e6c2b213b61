//===- RankTeam.h - all ranks of a bundle as threads ----------------------===//

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

/// All ranks of a bundle as threads of this process. The threads wait for
/// tasks, which all ranks execute together:
///
///   call(task)   rank 0  task ─┐        task ─┐
///                rank 1  task ─┴ wait   task ─┴ wait
///
/// Only one thread at a time may make calls, but any thread may call abort().
/// An error on one rank ends all ranks.
class RankTeam {
public:
  /// A function that every rank executes on its thread.
  using Task = std::function<Status(Rank &)>;

  RankTeam() = default;
  RankTeam(const RankTeam &) = delete;
  RankTeam &operator=(const RankTeam &) = delete;
  ~RankTeam() { end(); }

  /// Loads the executables, and starts one thread per rank. Must be called
  /// first. The ranks open no program; a task calls Rank::open(). Exit code 11
  /// if `bundle` is no complete bundle.
  Status start(const std::string &bundle, RunOptions options);

  /// Executes `task` on every rank, and blocks until all have finished. The
  /// first error of any rank wakes the others and ends the team; this call and
  /// all later ones return it. `onWait`, if not empty, is called on the
  /// caller's thread ten times per second meanwhile.
  Status call(const Task &task, const std::function<void()> &onWait = {});

  /// Executes `task` on every rank like call(), for a task in which ranks do
  /// not communicate. Returns the error of the lowest rank that fails. The team
  /// continues after that error.
  Status callApart(const Task &task);

  /// Ends the team from any thread, with `reason` as its error. A rank that
  /// waits for another is woken; a rank that computes ends after its step.
  void abort(const Status &reason);

  /// Ends the ranks, and joins their threads. Must not be called during a task.
  void end();

  /// Returns the number of ranks.
  int size() const { return int(images.size()); }

private:
  /// Executes tasks on one rank until the team ends. Runs on the rank's thread.
  Status serve(World &world);
  /// Opens the device of a rank. GPUs are supported for one rank only.
  Status openDevice(const ProgramImage &image, int rank,
                    std::unique_ptr<Device> &device) const;
  /// Removes a rank from the team, and returns `status`.
  Status leave(World &world, Status status);
  /// Blocks until task number `round` (from 0) arrives and returns true, or
  /// until the team ends and returns false.
  bool awaitTask(uint64_t round, Status &ended);
  /// Notes that one rank has finished the current task.
  void endTask();
  /// Returns why the team has ended.
  Status reason() const;

  std::string bundleFolder;
  RunOptions options;
  std::vector<const ProgramImage *> images;
  /// Whether ranks should end before their next step.
  std::atomic<bool> isGivenUp{false};

  /// Guards all members below.
  std::mutex mutex;
  /// Notified whenever a guarded member changes.
  std::condition_variable changed;
  /// The current task; owned by the caller of call().
  const Task *task = nullptr;
  /// Number of tasks so far, the current one included.
  uint64_t rounds = 0;
  /// Ranks that have not finished the current task.
  int numBusy = 0;
  /// Worlds of the ranks that are running.
  std::vector<World *> worlds;
  /// Whether ranks should take no further task.
  bool isEnding = false;
  /// Whether all ranks have ended.
  bool isOver = false;
  /// Result of the ranks, once `isOver`.
  Status result;
  /// The reason given to abort(); success if it was not called.
  Status aborted;

  /// Thread that starts the rank threads and joins them. Declared last: it uses
  /// the other members.
  std::thread keeper;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_THREAD_RANKTEAM_H
