//===- QueueWait.h - wait for the completion of a device's queue ----------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEWAIT_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEWAIT_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/Device.h"

namespace pcc::runtime {

/// Blocks until the device has completed all enqueued work. Returns an error if
/// the device or another rank fails.
///
/// The enqueued work may include communication calls, such as all-reduces. A
/// communication call may never complete, because it waits for other ranks. The
/// wait therefore has a time limit of World::deadline() seconds. The time
/// starts again each time a communication call of this rank completes. If the
/// time exceeds the limit, the function returns an error with exit code 14. A
/// single rank waits without a time limit.
Status waitForQueue(Device &device, World &world);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEWAIT_H
