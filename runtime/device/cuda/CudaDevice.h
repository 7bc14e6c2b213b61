//===- CudaDevice.h - executes instructions on a GPU ----------------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"

#include <memory>
#include <string>

namespace pcc::runtime {

class CudaContext;

/// A device for the rank that is number `localRank` on this host, and its GPU,
/// which it owns; exit code 13 if there is no driver, no library or no GPU.
/// Launchers show a process all GPUs of the host or its own alone, so numbers
/// begin again behind the last one: whether two ranks have the same one is
/// checked when they meet. `bundle` is the folder where libraries' algorithms
/// are kept for the next start.
Status createCudaDevice(int localRank, const std::string &bundle,
                        std::unique_ptr<Device> &device, CudaContext *&gpu);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
