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
  /// Path for the flight recorders (logs of the ranks' latest activities) of a
  /// failed run. If empty, they are not written.
  std::string flightFile = {};
  /// Longest time, in seconds, until the launcher starts the first rank. Also
  /// the longest time from the last rank's end to the launcher's end.
  double loadTimeout = 600;
  /// Longest time, in seconds, for which stdout may accept no byte while output
  /// is waiting. For example, stdout is a pipe, and its reader has stopped. If
  /// stdout accepts no byte for longer, the run fails with exit code 7.
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
/// - The ranks' stdout is passed on to stdout. If stdout fails, the ranks are
///   asked to stop.
/// - Lines of stderr for the user ("pcc:", "note:", "rank ") are passed on to
///   stderr.
/// - SIGINT, SIGTERM and SIGHUP are passed to all ranks as SIGTERM. Ranks that
///   train then save (exit code 16); other ranks end (128 plus the signal).
/// - A second signal kills all ranks.
/// - No files are left behind, even if this process is killed.
///
/// Returns the error of the first rank that failed, which the caller prints.
/// Other exit codes:
///
/// - 14: a rank was lost or a deadline passed
/// - 13: the launcher is missing or starts no ranks
/// - 7: stdout failed
Status spawnRanks(const SpawnRequest &request);

/// Returns mpirun and its options; the caller appends the executable and its
/// arguments. `folder` is the directory for the launcher's own files. `memory`
/// is the directory for the messages between the ranks.
std::vector<std::string> launchCommand(const std::string &launcher,
                                       int worldSize, const std::string &folder,
                                       const std::string &memory);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_SPAWNRANKS_H
