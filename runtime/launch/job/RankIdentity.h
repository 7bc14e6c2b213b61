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
/// that launchers set. The launchers, in order of precedence: PCC_* (set by pcc
/// or by the user), torchrun, Open MPI, Hydra (MPICH, Intel MPI, Cray), Slurm's
/// srun. Uses the first launcher for which both the rank and the world size are
/// set. If there is none, `identity` becomes empty.
///
/// Exit code 12 if a value is no valid number, or if two launchers disagree.
/// Slurm's variables are ignored if another launcher is found, because mpirun
/// within a Slurm job inherits them.
Status findIdentity(const Environment &environment,
                    std::optional<RankIdentity> &identity);

/// Returns the names of the variables in `environment` that describe the job of
/// this process: variables that findIdentity() reads, variables of MPI and
/// PMIx, and pcc's own. A process that starts ranks itself removes these
/// variables from the ranks' environment, because they belong to another job.
/// Slurm's variables are not returned, since mpirun reads the allocated hosts
/// from them.
std::vector<std::string> launcherVariables(const Environment &environment);

/// Checks that the launcher started as many ranks as the bundle has. Otherwise
/// returns exit code 12 with both numbers.
Status checkWorldSize(const RankIdentity &identity, int bundleWorldSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_RANKIDENTITY_H
