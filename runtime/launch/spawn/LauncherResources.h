//===- LauncherResources.h - files and space that mpirun needs ------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_LAUNCHERRESOURCES_H
#define PCC_RUNTIME_LAUNCH_SPAWN_LAUNCHERRESOURCES_H

#include "status/Status.h"

#include <string>

namespace pcc::runtime {

/// Raises this process's limit of open files (ulimit -n) as far as mpirun needs
/// it for `worldSize` ranks. Below this limit, mpirun waits forever or crashes.
/// Exit code 13 if the hard limit is too low. `launcher` is mpirun's name for
/// the message.
Status allowOpenFiles(const std::string &launcher, int worldSize);

/// Returns whether `folder` has enough space for the messages between
/// `worldSize` ranks of MPI on one host. Each rank keeps its messages in a file
/// of at most 4 MiB there, which the other ranks map. A rank that cannot extend
/// its file is killed by SIGBUS.
bool holdsMessages(const std::string &folder, int worldSize);

/// Checks that `folder` has enough space for mpirun's own files, for
/// `worldSize` ranks. Exit code 7 if not. `withMessages` says whether the
/// messages between the ranks (holdsMessages()) need space in `folder` too.
Status checkSpace(const std::string &launcher, const std::string &folder,
                  int worldSize, bool withMessages);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_LAUNCHERRESOURCES_H
