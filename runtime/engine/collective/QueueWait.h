//===- QueueWait.h - waits for what a device was given --------------------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEWAIT_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEWAIT_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/Device.h"

namespace pcc::runtime {

/// Returns when the device has done all that it was given, with an error of it
/// or of the world, or after the world's deadline.
Status waitForQueue(Device &device, World &world);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_QUEUEWAIT_H
