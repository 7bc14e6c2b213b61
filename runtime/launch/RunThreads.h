//===- RunThreads.h - all ranks in this process ---------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RUNTHREADS_H
#define PCC_RUNTIME_LAUNCH_RUNTHREADS_H

#include "runtime/comm/Communicator.h"

#include <functional>

namespace pcc::runtime {

/// Calls `rankMain` once per rank, each on a thread of its own, and waits for
/// all. The error of the rank that fails first wakes all others and is
/// returned.
Status runThreads(int worldSize,
                  const std::function<Status(World &)> &rankMain);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RUNTHREADS_H
