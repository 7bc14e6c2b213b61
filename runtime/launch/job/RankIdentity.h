//===- RankIdentity.h - rank and world size from a launcher's variables ---===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_RANKIDENTITY_H
#define PCC_RUNTIME_LAUNCH_JOB_RANKIDENTITY_H

#include "runtime/base/Status.h"

#include <map>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Environment variables by name.
using Environment = std::map<std::string, std::string>;

/// Returns a copy of this process's environment variables.
Environment currentEnvironment();

/// Largest number of ranks that a launcher's variables may name.
inline constexpr int kLargestWorld = 65536;

/// The identity of this process within a job.
struct RankIdentity {
  /// Index of this process in the world.
  int rank = 0;
  /// Number of ranks in the world.
  int worldSize = 1;
  /// Index among the ranks of this host; `rank` if the launcher does not say.
  int localRank = 0;
  /// Number of ranks on this host; `worldSize` if the launcher does not say.
  int localSize = 1;
  /// Name of the launcher, such as "Open MPI"; empty if no launcher started
  /// this process.
  std::string launcher;
};

/// Reads the identity from the variables that launchers set. The first launcher
/// with both rank and world size counts, in this order: PCC_* (set by pcc or by
/// the user), torchrun, Open MPI, Hydra (MPICH, Intel MPI, Cray), Slurm's srun.
/// `identity` is empty if there is none.
///
/// Exit code 12 if a value is no valid number, or if two launchers disagree.
/// Slurm's variables are ignored if another launcher is found, because mpirun
/// within a Slurm job inherits them.
Status findIdentity(const Environment &environment,
                    std::optional<RankIdentity> &identity);

/// Checks that the launcher started as many ranks as the bundle has; exit code
/// 12 with both numbers otherwise.
Status checkWorldSize(const RankIdentity &identity, int bundleWorldSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_RANKIDENTITY_H
