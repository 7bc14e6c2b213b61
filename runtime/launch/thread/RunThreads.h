//===- RunThreads.h - all ranks in this process ---------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H
#define PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H

#include "runtime/comm/Communicator.h"

#include <functional>
#include <string>

namespace pcc::runtime {

/// Calls `rankMain` once per rank, each on a thread of its own, and waits for
/// all. The error of the rank that fails first wakes all others and is
/// returned; where ranks were lost, with where each was then, and what all did
/// last goes to `flightFile` (see writeFlights).
Status runThreads(int worldSize, const std::function<Status(World &)> &rankMain,
                  const std::string &flightFile = {});

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_THREAD_RUNTHREADS_H
