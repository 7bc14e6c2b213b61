//===- QueueWait.h - wait for the completion of a device's queue ----------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEWAIT_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEWAIT_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/Device.h"

namespace pcc::runtime {

/// Blocks until the device has completed all enqueued work. Returns an error if
/// the device or another rank fails.
///
/// The enqueued work may include communication calls, such as all-reduces,
/// which wait for other ranks. The function returns an error with exit code 14
/// if no such call of this rank completes for World::deadline() seconds. Each
/// completed call restarts this time.
Status waitForQueue(Device &device, World &world);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEWAIT_H
