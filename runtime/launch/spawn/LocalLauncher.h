//===- LocalLauncher.h - launcher for ranks on this host, without MPI -----===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H
#define PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H

namespace pcc::runtime {

/// Environment variable that makes BUNDLE/run start that many ranks of its
/// bundle. `pcc run` sets it for targets whose communicator needs no launcher
/// (NCCL).
inline constexpr char kLaunchVariable[] = "PCC_LAUNCH";

/// Starts `count` ranks as children of this process.
///
/// - In a child, returns -1. The environment then holds the rank's identity and
///   the address at which the ranks meet.
/// - In the parent, blocks until all children have ended. Returns 0, or the
///   result of the rank that failed as shells write it: its exit code, or 128
///   plus its signal.
///
/// When a rank fails, the others have four seconds to end before they are
/// killed. SIGINT and SIGTERM are passed to the ranks, which have ten seconds
/// to save and end; a second signal kills them at once.
int launchRanks(int count);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H
