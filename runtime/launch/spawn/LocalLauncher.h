//===- LocalLauncher.h - launcher for ranks on this host, without MPI -----===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H
#define PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H

#include "runtime/launch/job/JobVariables.h"

namespace pcc::runtime {

/// Starts `count` ranks by fork(). Returns -1 in each child, with the number of
/// the rank in the environment variable PCC_RANK. In the parent, blocks until
/// all ranks have ended. Returns 0, or the exit code of the first rank that
/// failed: 128 + signal if a signal killed the rank. A later failure replaces
/// 14, because 14 says that another rank caused the failure. The parent passes
/// SIGINT, SIGTERM and SIGHUP to the ranks. The first failure or signal starts
/// a time limit: 4 s for a failure, 10 s for a signal. After this time, or at a
/// second signal, the parent kills the running ranks, and returns 137 if no
/// rank failed before.
int launchRanks(int count);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H
