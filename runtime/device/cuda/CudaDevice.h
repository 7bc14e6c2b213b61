//===- CudaDevice.h - executes instructions on a GPU ----------------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"

#include <memory>
#include <string>

namespace pcc::runtime {

class CudaContext;

/// A device for the rank that is number `localRank` on this host, and its GPU,
/// which it owns; exit code 13 if there is no driver, no library or no GPU for
/// it. `mayShare`: ranks take turns with the GPUs that there are. `bundle` is
/// the folder where libraries' algorithms are kept for the next start.
Status createCudaDevice(int localRank, bool mayShare, const std::string &bundle,
                        std::unique_ptr<Device> &device, CudaContext *&gpu);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
