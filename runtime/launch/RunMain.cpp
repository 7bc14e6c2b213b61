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
#include "status/Counted.h"

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
/// the rank and the number of ranks in environment variables. `worldSize` is
/// the number of ranks of `bundle`, the directory with one executable per rank.
/// If no launcher has set its variables and `worldSize` is 1, `rank` becomes 0.
/// If `worldSize` is larger, returns an error with exit code 12. Also returns
/// this error if the launcher's number of ranks is not `worldSize`, or if the
/// variables are invalid, incomplete or contradictory.
static Status findRank(const Environment &environment,
                       const std::string &bundle, int worldSize, int &rank) {
  std::optional<RankIdentity> identity;
  PCC_RETURN_IF_ERROR(findIdentity(environment, identity));
  if (!identity && worldSize > 1)
    return Status::error(WrongWorld,
                         "the bundle is made for " +
                             counted(worldSize, "rank") +
                             ", but no launcher has started this process",
                         {"use: pcc run " + bundle + ", or: mpirun -n " +
                          std::to_string(worldSize) + " " + bundle + "/run"});
  rank = identity ? identity->rank : 0;
  return identity ? checkWorldSize(*identity, worldSize) : Status::success();
}

/// Returns the number of child processes (one per rank) that this process must
/// start; 0 if it must start none. If the environment variable PCC_LAUNCH is
/// set, its value is the number. `pcc run` sets it if the bundle has several
/// ranks on GPUs. A value above 65,536, the largest number of ranks, counts as
/// 0. The function unsets the variable, because a child process must not start
/// ranks. Without the variable, the number is `worldSize` if the bundle has
/// several ranks on GPUs and no launcher has started this process; otherwise 0.
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

/// Creates an empty file that tells `pcc run` the rank and the process id of
/// this process. For example, the file name "alive.3.4711" says that rank 3 is
/// the process 4711. `pcc run` sets the environment variable PCC_STATUS_DIR to
/// the path of a directory. The function creates the file in this directory.
/// `pcc run` watches the directory and finds the new file. From then on,
/// `pcc run` also watches the process, and detects the end of the process.
///
/// The function also asks the kernel to kill this process when the parent
/// process ends. If PCC_STATUS_DIR is not set, the function does nothing.
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
