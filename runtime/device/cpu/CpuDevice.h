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
/// One operation runs at a time, divided over `numThreads` threads (at least
/// one). All calls must come from the thread that created the device, because
/// oneDNN stores the number of threads per thread.
std::unique_ptr<Device> createCpuDevice(int numThreads);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_CPUDEVICE_H
