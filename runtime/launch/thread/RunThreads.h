//===- RunThreads.h - runs one thread per rank ----------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H
#define PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H

#include "runtime/comm/Communicator.h"

#include <functional>
#include <string>

namespace pcc::runtime {

/// Calls `rankMain` once per rank, each on its own thread with its own World
/// (communicator). Blocks until all calls have returned. An error of one rank
/// ends all ranks; the first error is returned.
///
/// If a rank is lost or late, the error states the last activity of each rank.
/// The flight recorders (activity logs) are then written to `flightFile`, if
/// given.
Status runThreads(int worldSize, const std::function<Status(World &)> &rankMain,
                  const std::string &flightFile = {});

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H
