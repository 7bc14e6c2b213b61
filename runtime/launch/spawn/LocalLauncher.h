//===- LocalLauncher.h - launcher for ranks on this host, without MPI -----===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H
#define PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H

#include "runtime/launch/job/JobVariables.h"

namespace pcc::runtime {

/// Starts `count` ranks as child processes of this process.
///
/// - In a child, returns -1. The child's environment then holds its rank and
///   the address of rank 0.
/// - In the parent, blocks until all children have ended. Returns 0 if all
///   ranks succeeded, otherwise the failed rank's exit code, or 128 plus the
///   signal that killed it.
///
/// After a failure, the other ranks have four seconds to end. SIGINT and
/// SIGTERM are passed to the ranks, which have ten seconds to save and end. A
/// second signal kills them at once.
int launchRanks(int count);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H
