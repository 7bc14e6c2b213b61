//===- LauncherResources.h - files and space that mpirun needs ------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_LAUNCHERRESOURCES_H
#define PCC_RUNTIME_LAUNCH_SPAWN_LAUNCHERRESOURCES_H

#include "status/Status.h"

#include <string>

namespace pcc::runtime {

/// Raises this process's limit of open files (ulimit -n) if the limit is too
/// low for mpirun. mpirun needs more open files for more ranks, and `worldSize`
/// is the number of ranks. Without enough open files, mpirun waits forever or
/// crashes. Returns an error with exit code 13 if the limit cannot be raised
/// far enough. The error message begins with `launcher`, such as "mpirun".
Status allowOpenFiles(const std::string &launcher, int worldSize);

/// Returns an error with exit code 7 if the limit of a file's size (ulimit -f)
/// is too low for the files of mpirun. With such a limit, mpirun would wait
/// forever or crash. The error message begins with `launcher`, such as
/// "mpirun".
Status checkFileSizeLimit(const std::string &launcher);

/// Returns whether `folder` has enough space for the messages between
/// `worldSize` ranks of MPI on one host. Each rank keeps its messages in a file
/// of at most 4 MiB there, which the other ranks map. A rank that cannot extend
/// its file is killed by SIGBUS.
bool holdsMessages(const std::string &folder, int worldSize);

/// Checks that `folder` has enough space for the files that mpirun creates when
/// it starts `worldSize` ranks. If `withMessages` is true, MPI also stores the
/// messages between the ranks in `folder`, and the function adds the space for
/// the messages. Returns an error with exit code 7 if there is not enough
/// space. The error message begins with `launcher`, such as "mpirun".
Status checkSpace(const std::string &launcher, const std::string &folder,
                  int worldSize, bool withMessages);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_LAUNCHERRESOURCES_H
