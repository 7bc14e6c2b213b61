//===- SpawnRanks.h - starts a bundle's ranks as processes ----------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_SPAWNRANKS_H
#define PCC_RUNTIME_LAUNCH_SPAWN_SPAWNRANKS_H

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
  /// Function that receives progress messages of rank 0; an empty text clears
  /// the message. May be empty.
  std::function<void(const std::string &)> onProgress = {};
  /// Path to which the flight recorders (logs of the ranks' latest activities)
  /// are written if the run fails; see writeFlights(). If empty, they are not
  /// written.
  std::string flightFile = {};
  /// Longest time, in seconds, from the start of the launcher to the start of
  /// the first rank, and from the end of the last rank to the end of the
  /// launcher.
  double loadTimeout = 600;
  /// Longest time, in seconds, in which stdout takes no byte.
  double timeout = 30;
  /// Whether the bundle is for GPUs. BUNDLE/run then starts the ranks itself,
  /// because NCCL needs no launcher.
  bool onGpus = false;
};

/// Runs BUNDLE/run, the executable in the bundle directory, in as many
/// processes as the bundle has ranks. Blocks until all have ended.
///
/// - CPU ranks are started by Open MPI's mpirun, GPU ranks by BUNDLE/run
///   itself.
/// - The stdout of the ranks is passed on to stdout. If stdout fails, the ranks
///   are asked to stop, as by a signal. From the stderr of the ranks, only lines
///   for the user ("pcc:", "note:", "rank ") are passed on to stderr.
/// - The caller prints the returned error. It is the error of the first rank
///   that failed; exit code 14 if a rank was lost or a deadline passed, 13 if
///   the launcher is missing or does not start the ranks, 7 if stdout failed.
/// - SIGINT, SIGTERM and SIGHUP to this process are passed to all ranks as
///   SIGTERM. Ranks that train stop after the current step and save (exit code
///   16); other ranks end (128 plus the signal). A second signal kills all
///   ranks.
/// - No files are left behind, even if this process is killed.
Status spawnRanks(const SpawnRequest &request);

/// Returns the beginning of the mpirun command line: mpirun and its options.
/// The caller appends the executable of the bundle and its arguments. `folder`
/// is the directory for the launcher's own files. `memory` is the directory for
/// MPI's shared memory; if empty, MPI chooses one.
std::vector<std::string> launchCommand(const std::string &launcher,
                                       int worldSize, const std::string &folder,
                                       const std::string &memory);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_SPAWNRANKS_H
