//===- LocalLauncher.h - launcher for ranks on this host, without MPI -----===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H
#define PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H

#include "runtime/launch/job/JobVariables.h"

namespace pcc::runtime {

/// Starts `count` child processes by fork(). Each child process is one rank.
/// This function returns in every child, and also in the parent:
///
/// - In a child, returns -1. The child's environment then contains the number
///   of the rank (PCC_RANK). PCC_RENDEZVOUS contains the address at which rank
///   0 listens.
/// - In the parent, blocks until all children have ended. Returns 0 if all
///   ranks ended with exit code 0. Otherwise returns the exit code of the first
///   rank that failed. Exit code 14 says that another rank caused the failure:
///   the exit code of a rank that fails later then replaces 14. If a signal
///   killed the rank, its exit code is 128 plus the number of the signal.
///
/// A time limit begins at the first of two events:
///
/// - A rank fails. The time limit is four seconds.
/// - The parent receives SIGINT, SIGTERM or SIGHUP. The time limit is ten
///   seconds. The parent passes the signal to all ranks. A rank that trains a
///   model then saves a checkpoint and ends.
///
/// After the time limit, the parent kills all ranks that still run. The parent
/// also kills these ranks when it receives a second signal. The parent then
/// returns 137 (128 + SIGKILL) if no rank has failed before.
int launchRanks(int count);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H
