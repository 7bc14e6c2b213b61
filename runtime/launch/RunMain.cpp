//===- RunMain.cpp - BUNDLE/run: finds its rank and becomes it ------------===//

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

using namespace pcc::runtime;

/// The folder that this executable lies in.
static std::string ownFolder() {
  std::error_code problem;
  return std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
}

static Status findRank(const Environment &environment,
                       const std::string &bundle, int worldSize, int &rank) {
  if (worldSize == 0)
    return Status::error(DamagedBundle, bundle + " has no rank-000");
  std::optional<RankIdentity> identity;
  if (Status status = findIdentity(environment, identity); status.failed())
    return status;
  if (!identity && worldSize > 1)
    return Status::error(WrongWorld,
                         "the bundle is made for " + std::to_string(worldSize) +
                             " ranks, but no launcher has started this process",
                         {"use: pcc run " + bundle + ", or: mpirun -n " +
                          std::to_string(worldSize) + " " + bundle + "/run"});
  rank = identity ? identity->rank : 0;
  return identity ? checkWorldSize(*identity, worldSize) : Status::success();
}

/// How many ranks this process is to start, as pcc run asks or as those on GPUs
/// need no launcher; 0 if it is one itself.
static int ranksToLaunch(const std::string &bundle, int worldSize) {
  if (const char *count = std::getenv(kLaunchVariable)) {
    const int numRanks = std::atoi(count);
    unsetenv(kLaunchVariable);
    return numRanks;
  }
  if (worldSize <= 1)
    return 0;
  std::optional<RankIdentity> identity;
  const Status status = findIdentity(currentEnvironment(), identity);
  return status.ok() && !identity && isForGpus(bundle) ? worldSize : 0;
}

static Status becomeRank(const std::string &bundle, int rank, char **argv) {
  const std::string program = bundle + "/" + rankFileName(rank);
  if (Status status = checkSeal(program); status.failed())
    return status;
  argv[0] = const_cast<char *>(program.c_str());
  execv(argv[0], argv);
  return Status::error(DamagedBundle,
                       "cannot start " + program + ": " + std::strerror(errno));
}

/// `pcc run` has to know its ranks, and who kills its launcher means them, too.
static void announce(const Environment &environment, int rank) {
  const auto folder = environment.find(kStatusFolderVariable);
  if (folder == environment.end())
    return;
  announceRank(folder->second, rank);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int main(int, char **argv) {
  const std::string bundle = ownFolder();
  const int worldSize = countRanks(bundle);
  if (const int numRanks = ranksToLaunch(bundle, worldSize))
    if (const int code = launchRanks(numRanks); code >= 0)
      return code;
  const Environment environment = currentEnvironment();
  int rank = 0;
  Status status = findRank(environment, bundle, worldSize, rank);
  announce(environment, rank);
  if (status.failed())
    return reportFailure(status, environment, rank, /*onAllRanks=*/true);
  status = becomeRank(bundle, rank, argv);
  return reportFailure(status, environment, rank, /*onAllRanks=*/false);
}
