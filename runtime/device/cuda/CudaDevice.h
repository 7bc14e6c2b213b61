//===- CudaDevice.h - device that executes programs on an NVIDIA GPU ------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"

#include <memory>
#include <string>

namespace pcc::runtime {

class CudaContext;

/// Creates the device of the rank with number `localRank` on this host, and
/// sets `gpu` to its GPU, which the device owns. Both outputs are set even on
/// an error. Exit code 13 (NoDevice) if there is no driver or no GPU.
///
/// The rank uses GPU number `localRank` modulo the number of visible GPUs,
/// because some launchers show a process all GPUs of the host and others only
/// its own. Two ranks can therefore get the same GPU; they find that out when
/// they compare bus addresses (CudaContext::findBus). `bundle` is the folder of
/// the bundle, which keeps the algorithms that cuBLASLt selects for the next
/// run.
Status createCudaDevice(int localRank, const std::string &bundle,
                        std::unique_ptr<Device> &device, CudaContext *&gpu);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
