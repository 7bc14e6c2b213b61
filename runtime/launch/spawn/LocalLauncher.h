//===- LocalLauncher.h - starts ranks on this host ------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H
#define PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H

namespace pcc::runtime {

/// Tells BUNDLE/run to start that many ranks of its bundle: a launcher for
/// targets that need none of their own.
inline constexpr char kLaunchVariable[] = "PCC_LAUNCH";

/// Starts `count` ranks as children of this process. In a child, returns -1,
/// and the environment says which rank it is and where all of them meet. In the
/// parent, returns when all have ended, with 0 or how the one that failed did,
/// as shells write it: its exit code, or 128 and its signal. The others are
/// killed some seconds later. SIGINT and SIGTERM are the ranks', which are
/// killed ten seconds later, or by the second one.
int launchRanks(int count);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_LOCALLAUNCHER_H
