//===- SpawnRanks.h - starts a bundle's ranks as processes ----------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_SPAWNRANKS_H
#define PCC_RUNTIME_LAUNCH_SPAWN_SPAWNRANKS_H

#include "runtime/base/TrainingLine.h"
#include "status/Status.h"

#include <functional>
#include <string>
#include <vector>

namespace pcc::runtime {

/// The arguments of spawnRanks().
struct SpawnRequest {
  /// Directory of the bundle (output of pcc) to run.
  std::string bundle;
  /// Command-line arguments for every rank.
  std::vector<std::string> arguments = {};
  /// Launcher that starts the CPU ranks: the path of an executable, or a name
  /// that is looked up in PATH.
  std::string launcher = "mpirun";
  /// Function that displays the progress of the run. spawnRanks() calls the
  /// function with the latest progress message of rank 0, such as "step 3 of
  /// 10". A new message replaces the displayed message. An empty message
  /// removes the displayed message. If `onProgress` is not set, rank 0 sends no
  /// progress messages.
  std::function<void(const std::string &)> onProgress = {};
  /// Function that shows a training step on the terminal. If it is not set,
  /// rank 0 writes the steps to stdout.
  std::function<void(const TrainingLine &)> onTrainingLine = {};
  /// Path for the flight recorders (logs of the ranks' latest activities) of a
  /// failed run. If empty, they are not written.
  std::string flightFile = {};
  /// Time limit for the launcher, in seconds. The launcher is the process that
  /// starts the ranks, such as mpirun. The limit applies twice:
  ///
  /// - The launcher must start the first rank within this time.
  /// - When the last rank has ended, the launcher must end within this time.
  ///
  /// If the launcher exceeds the limit, it is killed, and the run fails with
  /// exit code 14. If the ranks may be on several hosts, there is no limit.
  double loadTimeout = 600;
  /// Longest time, in seconds, for which stdout may accept no byte while output
  /// is waiting. For example, stdout is a pipe, and its reader has stopped. If
  /// stdout accepts no byte for longer, the run fails with exit code 7.
  double timeout = 30;
  /// Whether the bundle is for GPUs. If there are several ranks, this value
  /// determines which process starts the ranks:
  ///
  /// - true: The executable `run` in the bundle directory starts the ranks as
  ///   child processes. The ranks communicate by NCCL, which needs no launcher.
  /// - false: The launcher `launcher`, such as mpirun, starts the ranks. The
  ///   ranks communicate by MPI, which needs a launcher.
  bool onGpus = false;
};

/// Runs BUNDLE/run in one process per rank, and blocks until all have ended.
/// Copies the ranks' stdout, and those lines of stderr that begin with "pcc:",
/// "note:" or "pcc-table: ". At SIGINT, SIGTERM or SIGHUP, sends SIGTERM to the
/// ranks. Ranks that train with --save then save a checkpoint and exit with 16.
/// A second signal kills all ranks. Returns the error that a rank reported
/// first. If no rank reported an error, the usual exit codes are 14 (a rank
/// ended early, or SpawnRequest::loadTimeout passed), 13 (mpirun was not found,
/// or no rank started) and 7 (a write to stdout failed).
Status spawnRanks(const SpawnRequest &request);

/// Returns the first part of the command line that starts `worldSize` ranks:
/// mpirun and its options. The caller appends the executable of the ranks and
/// the arguments of this executable. `launcher` is the path of mpirun. mpirun
/// stores its temporary files in the directory `folder`. MPI stores the
/// messages between the ranks in the directory `memory`. If the ranks may be on
/// several hosts, `memory` is not used.
std::vector<std::string> launchCommand(const std::string &launcher,
                                       int worldSize, const std::string &folder,
                                       const std::string &memory);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_SPAWNRANKS_H
