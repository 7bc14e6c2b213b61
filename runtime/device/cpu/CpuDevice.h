//===- CpuDevice.h - device that executes programs on CPU cores -----------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_CPUDEVICE_H
#define PCC_RUNTIME_DEVICE_CPU_CPUDEVICE_H

#include "runtime/device/Device.h"

#include <memory>

namespace pcc::runtime {

/// Creates a device that executes instructions on the host's cores:
///
/// - kernels that pcc has compiled
/// - matrix products and convolutions with oneDNN
/// - all other instructions with C++ loops
///
/// One operation runs at a time. The operation's work is divided over
/// `numThreads` threads. If `numThreads` is less than 1, one thread is used.
///
/// oneDNN uses `numThreads` threads only in calls from the thread that called
/// createCpuDevice(). All functions of the device must therefore be called from
/// this thread.
std::unique_ptr<Device> createCpuDevice(int numThreads);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_CPUDEVICE_H
