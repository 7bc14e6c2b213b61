//===- CudaDevice.h - device that executes programs on an NVIDIA GPU ------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"

#include <memory>
#include <string>

namespace pcc::runtime {

class CudaContext;

/// Creates the device of a rank, and opens one GPU. `device` owns the GPU.
/// `gpu` points to it, and is valid as long as `device` exists. The function
/// sets both even if it cannot open the GPU. Exit code 13 (NoDevice) if there
/// is no driver or no GPU.
///
/// Opens the GPU with index `localRank` (the rank's index on this host) modulo
/// the number of visible GPUs. Some launchers make only one GPU visible to each
/// process. The directory `bundle` stores the algorithms that cuBLASLt selects.
Status createCudaDevice(int localRank, const std::string &bundle,
                        std::unique_ptr<Device> &device, CudaContext *&gpu);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
