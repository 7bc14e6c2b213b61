//===- RunThreads.h - runs one thread per rank ----------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H
#define PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H

#include "runtime/comm/Communicator.h"

#include <functional>
#include <string>

namespace pcc::runtime {

/// Calls `rankMain` once per rank, in one thread per rank, and blocks until all
/// calls have returned. Each rank communicates with the other ranks through its
/// own World object. If a rank fails, ends all other ranks. Returns the error
/// that occurred first. Exit code 14 usually means that a rank waited too long
/// for another rank. If the error has exit code 14, the function adds the
/// latest activity of each rank to the error. The function also writes a log of
/// each rank's activities to `flightFile`, unless this path is empty.
Status runThreads(int worldSize, const std::function<Status(World &)> &rankMain,
                  const std::string &flightFile = {});

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H
