//===- SpawnRanks.h - starting all ranks of a bundle on this host ---------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_SPAWNRANKS_H
#define PCC_RUNTIME_LAUNCH_SPAWN_SPAWNRANKS_H

#include "runtime/base/Status.h"

#include <functional>
#include <string>
#include <vector>

namespace pcc::runtime {

struct SpawnRequest {
  std::string bundle;
  std::vector<std::string> arguments = {}; ///< for every rank
  std::string launcher = "mpirun";         ///< a path, or looked up in PATH
  /// Told what rank 0 does; an empty text clears it. May be empty.
  std::function<void(const std::string &)> onProgress = {};
  std::string flightFile = {}; ///< see writeFlights()
  bool onGpus = false; ///< NCCL needs no launcher: BUNDLE/run starts the ranks
};

/// Runs BUNDLE/run on as many processes as the bundle has ranks, those that are
/// not on GPUs through Open MPI's mpirun, and returns when all are gone. stdout
/// is the ranks'; of stderr only what ranks mean for the user gets through
/// ("pcc:", "note:", "rank "). The result is what the run failed from, for the
/// caller to print: the first rank's error, exit code 14 if a rank was lost, 13
/// if there is no launcher. SIGINT, SIGTERM and SIGHUP reach all ranks as
/// SIGTERM: those that train stop after the step, save and leave, which is a
/// success; others end. A second one kills them. Leaves no files behind, not
/// even when this process is killed.
Status spawnRanks(const SpawnRequest &request);

/// The command that spawnRanks() executes, without the bundle's arguments.
/// `memory` is a folder for what ranks share in memory; empty: MPI's choice.
std::vector<std::string> launchCommand(const std::string &launcher,
                                       int worldSize, const std::string &folder,
                                       const std::string &memory);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_SPAWNRANKS_H
