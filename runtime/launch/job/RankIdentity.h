//===- RankIdentity.h - which rank this process is ------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_RANKIDENTITY_H
#define PCC_RUNTIME_LAUNCH_JOB_RANKIDENTITY_H

#include "runtime/base/Status.h"

#include <map>
#include <optional>
#include <string>

namespace pcc::runtime {

using Environment = std::map<std::string, std::string>;

/// The variables of this process.
Environment currentEnvironment();

/// Largest world that a bundle may have.
inline constexpr int kLargestWorld = 65536;

struct RankIdentity {
  int rank = 0;
  int worldSize = 1;
  int localRank = 0;    ///< among the ranks of this host
  int localSize = 1;    ///< number of ranks on this host
  std::string launcher; ///< "Open MPI"; empty if nobody launched this process
};

/// Reads the variables that launchers set. The first complete set of this list
/// counts: PCC_*, torchrun, Open MPI, Hydra (MPICH, Intel, Cray), Slurm's srun.
/// No complete set: no identity. Exit code 12 if a value is no valid number, or
/// if two launchers contradict each other; Slurm's variables do not count where
/// there are others, since mpirun inside a Slurm job inherits them.
Status findIdentity(const Environment &environment,
                    std::optional<RankIdentity> &identity);

/// Exit code 12 with both numbers if the bundle is made for another world.
Status checkWorldSize(const RankIdentity &identity, int bundleWorldSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_RANKIDENTITY_H
