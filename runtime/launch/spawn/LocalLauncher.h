//===- LocalLauncher.h - launcher for ranks on this host, without MPI -----===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H
#define PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H

#include "runtime/launch/job/JobVariables.h"

namespace pcc::runtime {

/// Starts `count` ranks as child processes of this process.
///
/// - In a child, returns -1. The environment of the child then holds its rank,
///   and the address at which rank 0 listens for all other ranks.
/// - In the parent, blocks until all children have ended. Returns 0 if all
///   ranks succeeded. Otherwise returns the exit status of the rank that failed
///   as shells report it: its exit code, or 128 plus the number of the signal
///   that killed it.
///
/// If a rank fails, the other ranks have four seconds to end before they are
/// killed. SIGINT and SIGTERM are passed to the ranks, which have ten seconds
/// to save and end; a second signal kills them at once.
int launchRanks(int count);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H
