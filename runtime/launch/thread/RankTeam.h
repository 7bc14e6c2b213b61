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
  /// A function that every rank of the team executes on its own thread.
  using Task = std::function<Status(Rank &)>;

  RankTeam() = default;
  RankTeam(const RankTeam &) = delete;
  RankTeam &operator=(const RankTeam &) = delete;
  ~RankTeam() { end(); }

  /// Loads the executables of all ranks of `bundle`, and starts one thread per
  /// rank. Must be the first call. `bundle` is the directory that the compiler
  /// writes. Returns exit code 11 if `bundle` is not complete.
  ///
  /// The ranks do not have their weights and communicators yet. The caller must
  /// then pass a task to call(). This task calls Rank::open(), which loads the
  /// program and the weights, or Rank::run(), which executes a whole run.
  Status start(const std::string &bundle, RunOptions options);

  /// Executes `task` on every rank, and blocks until all ranks have finished
  /// it. Meanwhile calls `onWait`, if given, ten times per second on the
  /// caller's thread.
  ///
  /// If a rank fails, the team ends. This call and all later calls then return
  /// the error of that rank.
  Status call(const Task &task, const std::function<void()> &onWait = {});

  /// Executes `task`, in which ranks do not communicate, on every rank. Returns
  /// the error of the lowest rank that fails. The team continues after an
  /// error.
  Status callApart(const Task &task);

  /// Ends all ranks of the team with the error `reason`. Any thread may call
  /// this function. A rank that waits for another rank stops waiting, and ends.
  /// A rank that computes ends when it next waits for another rank, or before
  /// its next step. A step is one execution of the whole model, in training or
  /// inference.
  void abort(const Status &reason);

  /// Ends the threads of all ranks, and joins them. Must not be called during a
  /// task.
  void end();

  /// Returns the number of ranks.
  int size() const { return int(images.size()); }

private:
  /// Executes the tasks of one rank until the team ends or a task fails. This
  /// function is the body of the rank's thread. `world` is the object through
  /// which the rank communicates with the other ranks; world.rank() is the
  /// number of the rank.
  Status serve(World &world);
  /// Opens the device of a rank. A GPU can be used only if the team has one
  /// rank.
  Status openDevice(const ProgramImage &image, int rank,
                    std::unique_ptr<Device> &device) const;
  /// Records that the thread of a rank ends with `status`, and returns
  /// `status`.
  Status leave(World &world, Status status);
  /// Blocks until one of these events:
  ///
  /// - call() has started task number `round` (from 0): returns true.
  /// - The team ends: returns false, and sets `ended` to the error that was
  ///   passed to abort(), if any.
  bool awaitTask(uint64_t round, Status &ended);
  /// Records that one rank has finished the current task. When the last rank
  /// has finished, wakes call().
  void endTask();
  /// Returns the error with which the team has ended.
  Status reason() const;

  std::string bundleFolder;
  RunOptions options;
  std::vector<const ProgramImage *> images;
  /// Whether abort() was called. Each rank reads this variable before each
  /// step. If the value is true, the rank ends. A step is one execution of the
  /// whole model, in training or inference.
  std::atomic<bool> isGivenUp{false};

  /// Guards the members that are declared after it.
  std::mutex mutex;
  /// Notified whenever a member guarded by `mutex` changes.
  std::condition_variable changed;
  /// The current task; owned by the caller of call().
  const Task *task = nullptr;
  /// Number of tasks so far, the current task included.
  uint64_t rounds = 0;
  /// Number of ranks that have not finished the current task.
  int numBusy = 0;
  /// World objects of the ranks whose thread is running. Each rank has its own
  /// World object, through which it communicates with the other ranks.
  std::vector<World *> worlds;
  /// Whether the ranks' threads should end instead of waiting for the next
  /// task.
  bool isEnding = false;
  /// Whether the threads of all ranks have ended.
  bool isOver = false;
  /// First error of any rank, or success; valid once `isOver` is true.
  Status result;
  /// Error that was passed to abort(); success if abort() was not called.
  Status aborted;

  /// Thread that starts the rank threads and joins them. Declared last, because
  /// it uses the other members.
  std::thread keeper;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_THREAD_RANKTEAM_H
