//===- RunThreads.h - runs one thread per rank ----------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H
#define PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H

#include "runtime/comm/Communicator.h"

#include <functional>
#include <string>

namespace pcc::runtime {

/// Calls `rankMain` once per rank. Each call has its own thread and its own
/// World object, through which the rank communicates with the other ranks.
/// Blocks until all calls have returned.
///
/// If `rankMain` returns an error on a rank, the function ends all other ranks,
/// and returns this error. If several ranks fail, the function returns the
/// error that occurred first.
///
/// Exit code 14 usually means that a rank waited too long for another rank. If
/// the error has exit code 14, the function adds the latest activity of each
/// rank to the error. Each rank has a flight recorder, a log of its latest
/// activities. The function also writes the flight recorders of all ranks to
/// the file `flightFile`, unless this path is empty.
Status runThreads(int worldSize, const std::function<Status(World &)> &rankMain,
                  const std::string &flightFile = {});

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H
