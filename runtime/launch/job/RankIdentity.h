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

/// Largest number of ranks that pcc accepts from an environment variable, such
/// as WORLD_SIZE of torchrun. Ranks are counted from 0, so the largest rank is
/// 65,535.
inline constexpr int kLargestWorld = 65536;

/// Rank of this process and number of ranks, first within the whole job, then
/// within this host. A job has one process per rank, on one or more hosts. For
/// example, a launcher starts 8 ranks on two hosts, and ranks 4 to 7 are on the
/// second host. Rank 5 then has these values:
///
///   rank 5, worldSize 8, localRank 1, localSize 4
struct RankIdentity {
  /// Rank of this process: its index among all processes of the job, from 0 to
  /// worldSize - 1.
  int rank = 0;
  /// Number of ranks of the whole job, on all hosts.
  int worldSize = 1;
  /// Index of this process among the ranks of its host, counted from 0. Most
  /// launchers pass this index in an environment variable, such as LOCAL_RANK
  /// of torchrun. If the variable is not set, `localRank` is equal to `rank`.
  int localRank = 0;
  /// Number of ranks on this host. Most launchers pass this number in an
  /// environment variable. If the variable is not set, `localSize` is equal to
  /// `worldSize`, even if the ranks are on several hosts.
  int localSize = 1;
  /// Name of the launcher, such as "Open MPI"; empty if no launcher started
  /// this process.
  std::string launcher;
};

/// Sets `identity` to the rank of this process, the number of ranks, and the
/// launcher. A launcher, such as mpirun, passes both numbers to each process in
/// environment variables. The first of these launchers that has set both
/// numbers determines the result: PCC_* variables, torchrun, Open MPI, Hydra
/// (MPICH, Intel MPI, Cray), Slurm's srun. If none has, `identity` becomes
/// std::nullopt. Returns an error with exit code 12 if a value is invalid, if
/// only one of PCC_RANK and PCC_WORLD_SIZE is set, or if two launchers have set
/// different numbers. The numbers of srun may differ from those of another
/// launcher.
Status findIdentity(const Environment &environment,
                    std::optional<RankIdentity> &identity);

/// Returns the names of the variables in `environment` that describe the job to
/// which this process belongs. A job is one run of a bundle, with one process
/// per rank. A launcher, such as mpirun, sets these variables for each process
/// of the job. An example is OMPI_COMM_WORLD_RANK, the rank of the process.
///
/// If this process starts a new job, the processes of the new job must not
/// inherit these variables. Otherwise, each process of the new job would find
/// the rank of this process in its environment.
///
/// The result does not contain variables of Slurm. If mpirun starts the new
/// job, mpirun reads the names of the hosts from variables of Slurm.
std::vector<std::string> launcherVariables(const Environment &environment);

/// Compares two numbers of ranks. `identity.worldSize` is the number of ranks
/// that the launcher has started. `bundleWorldSize` is the number of ranks for
/// which the bundle was compiled. If the numbers differ, returns an error with
/// exit code 12. The error message contains both numbers.
Status checkWorldSize(const RankIdentity &identity, int bundleWorldSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_RANKIDENTITY_H
