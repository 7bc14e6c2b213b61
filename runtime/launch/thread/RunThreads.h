//===- RunThreads.h - runs one thread per rank ----------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H
#define PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H

#include "runtime/comm/Communicator.h"

#include <functional>
#include <string>

namespace pcc::runtime {

/// Calls `rankMain` once per rank, each on its own thread with its own World
/// (communicator), and blocks until all calls have returned. If a rank fails,
/// the run ends on all ranks, and the first error is returned.
///
/// If the error is the loss or the lateness of a rank, it also states the last
/// activity of each rank. The flight recorders (logs of activities) are then
/// written to `flightFile`, unless that is empty (see writeFlights).
Status runThreads(int worldSize, const std::function<Status(World &)> &rankMain,
                  const std::string &flightFile = {});

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H
