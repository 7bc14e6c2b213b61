//===- CpuDevice.h - executes instructions on the host's cores ------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_CPUDEVICE_H
#define PCC_RUNTIME_DEVICE_CPU_CPUDEVICE_H

#include "runtime/device/Device.h"

#include <memory>

namespace pcc::runtime {

/// Generated kernels, oneDNN for matmul and convolution, plain loops for the
/// rest. Operations run on `numThreads` threads, one operation at a time, from
/// the thread that created the device.
std::unique_ptr<Device> createCpuDevice(int numThreads);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_CPUDEVICE_H
