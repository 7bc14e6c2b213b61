//===- RunMain.cpp - main() of BUNDLE/run, which becomes one rank ---------===//
//
// Launchers start the same file for every rank. The process finds out which
// rank it is, verifies the checksum of BUNDLE/rank-NNN, and replaces itself by
// that file (execv). The executable depends on no library of the target (MPI,
// CUDA), so that it can report an error where one is missing.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/InheritedState.h"
#include "runtime/launch/job/BundleFiles.h"
#include "runtime/launch/job/RankIdentity.h"
#include "runtime/launch/report/FirstFailure.h"
#include "runtime/launch/report/RankWatch.h"
#include "runtime/launch/spawn/LocalLauncher.h"
#include "runtime/program/Seal.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/prctl.h>
#include <unistd.h>

using namespace pcc;
using namespace pcc::runtime;

/// Returns the directory that contains this executable, which is the bundle.
static std::string ownFolder() {
  std::error_code problem;
  return std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
}

/// Sets `rank` to the rank of this process. A launcher, such as mpirun, passes
/// the rank and the number of ranks to each process in environment variables.
/// `environment` contains these variables. Without a launcher, `rank` becomes
/// 0. `worldSize` is the number of ranks for which `bundle` was compiled.
///
/// Exit code 12 in three cases:
///
/// - The bundle has several ranks, and no launcher started this process.
/// - The launcher's number of ranks differs from `worldSize`.
/// - A variable is not a valid number, or variables of two launchers disagree.
static Status findRank(const Environment &environment,
                       const std::string &bundle, int worldSize, int &rank) {
  std::optional<RankIdentity> identity;
  PCC_RETURN_IF_ERROR(findIdentity(environment, identity));
  if (!identity && worldSize > 1)
    return Status::error(WrongWorld,
                         "the bundle is made for " + std::to_string(worldSize) +
                             " ranks, but no launcher has started this process",
                         {"use: pcc run " + bundle + ", or: mpirun -n " +
                          std::to_string(worldSize) + " " + bundle + "/run"});
  rank = identity ? identity->rank : 0;
  return identity ? checkWorldSize(*identity, worldSize) : Status::success();
}

/// Returns the number of ranks that this process must start as child processes.
/// `worldSize` is the number of ranks of `bundle`. There are three cases:
///
/// - The environment variable PCC_LAUNCH is set. The result is the number in
///   the variable, or 0 if the number is larger than 65,536. `pcc run` sets the
///   variable if the bundle has several ranks on GPUs. This function removes
///   the variable, so that the child processes start no ranks themselves.
/// - The bundle has several ranks on GPUs, and no launcher such as torchrun has
///   started this process. The result is `worldSize`.
/// - Otherwise this process is itself a rank. The result is 0.
static int ranksToLaunch(const std::string &bundle, int worldSize) {
  if (const char *count = std::getenv(kLaunchVariable)) {
    const long numRanks = std::strtol(count, nullptr, 10);
    unsetenv(kLaunchVariable);
    return numRanks <= kLargestWorld ? int(numRanks) : 0;
  }
  if (worldSize <= 1)
    return 0;
  std::optional<RankIdentity> identity;
  const Status status = findIdentity(currentEnvironment(), identity);
  return status.ok() && !identity && isForGpus(bundle) ? worldSize : 0;
}

/// Replaces this process by the executable of `rank`. Returns only on an error.
static Status becomeRank(const std::string &bundle, int rank, char **argv) {
  const std::string program = bundle + "/" + rankFileName(rank);
  PCC_RETURN_IF_ERROR(checkSeal(program));
  argv[0] = const_cast<char *>(program.c_str());
  execv(argv[0], argv);
  return Status::error(DamagedBundle,
                       "cannot start " + program + ": " + std::strerror(errno));
}

/// Tells `pcc run` the rank and the process id of this process. `pcc run` has
/// stored the path of a directory in the environment variable PCC_STATUS_DIR.
/// This function creates a file in the directory. The name of the file contains
/// the rank and the process id. `pcc run` then notices when the process ends.
///
/// Also asks the kernel to kill this process when its parent process ends. Does
/// nothing if PCC_STATUS_DIR is not set.
static void announce(const Environment &environment, int rank) {
  const auto folder = environment.find(kStatusFolderVariable);
  if (folder == environment.end())
    return;
  announceRank(folder->second, rank);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int main(int, char **argv) {
  repairInheritedState();
  const std::string bundle = ownFolder();
  const Status intact = checkBundle(bundle);
  const int worldSize = intact.ok() ? countRanks(bundle) : 0;
  if (const int numRanks = ranksToLaunch(bundle, worldSize))
    if (const int code = launchRanks(numRanks); code >= 0)
      return code;
  const Environment environment = currentEnvironment();
  int rank = 0;
  Status status = findRank(environment, bundle, worldSize, rank);
  if (intact.failed())
    status = intact;
  announce(environment, rank);
  if (status.failed())
    return reportFailure(status, environment, rank, /*onAllRanks=*/true);
  status = becomeRank(bundle, rank, argv);
  return reportFailure(status, environment, rank, /*onAllRanks=*/false);
}
