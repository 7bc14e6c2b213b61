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

/// Sets `rank` from the launcher's environment variables. Exit code 12 in two
/// cases:
///
/// - The bundle needs a launcher, and none started this process.
/// - The launcher and the bundle have different numbers of ranks.
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

/// Returns the number of ranks that this process must start as children; 0 if
/// this process is itself a rank. It starts ranks in two cases:
///
/// - PCC_LAUNCH is set. `pcc run` sets it for GPUs.
/// - The bundle is for several GPUs, and no launcher has started this process.
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

/// Announces this process to `pcc run`: writes its rank and process id into the
/// status folder. Makes this process end when its launcher is killed. Does
/// nothing without `pcc run`.
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
