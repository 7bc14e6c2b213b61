//===- RankIdentity.h - rank and world size from a launcher's variables ---===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_RANKIDENTITY_H
#define PCC_RUNTIME_LAUNCH_JOB_RANKIDENTITY_H

#include "status/Status.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Environment variables by name.
using Environment = std::map<std::string, std::string>;

/// Returns a copy of this process's environment variables.
Environment currentEnvironment();

/// Largest world size and rank that are accepted from a launcher's environment
/// variables.
inline constexpr int kLargestWorld = 65536;

/// The place of this process within a job: its rank, and the numbers of ranks.
struct RankIdentity {
  /// Rank: index of this process in the world, counted from 0.
  int rank = 0;
  /// Number of ranks in the world.
  int worldSize = 1;
  /// Index of this process among the ranks of its host; equal to `rank` if the
  /// launcher sets no variable for it.
  int localRank = 0;
  /// Number of ranks on this host; equal to `worldSize` if the launcher sets no
  /// variable for it.
  int localSize = 1;
  /// Name of the launcher, such as "Open MPI"; empty if no launcher started
  /// this process.
  std::string launcher;
};

/// Sets `identity` (rank, world size and more) from the environment variables
/// of the launcher that has started this process. Uses the first of these
/// launchers that has set rank and world size:
///
/// 1. PCC_* variables, set by pcc or by the user
/// 2. torchrun
/// 3. Open MPI
/// 4. Hydra (MPICH, Intel MPI, Cray)
/// 5. Slurm's srun
///
/// If there is none, `identity` becomes empty. Exit code 12 if a value is no
/// valid number, or if two of launchers 1 to 4 disagree.
Status findIdentity(const Environment &environment,
                    std::optional<RankIdentity> &identity);

/// Returns the names of the variables in `environment` that describe the job of
/// this process. Ranks of a new job must not inherit them. Slurm's variables
/// are not returned, because mpirun needs them to find the hosts.
std::vector<std::string> launcherVariables(const Environment &environment);

/// Checks that the launcher started as many ranks as the bundle has. Otherwise
/// returns exit code 12 with both numbers.
Status checkWorldSize(const RankIdentity &identity, int bundleWorldSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_RANKIDENTITY_H
