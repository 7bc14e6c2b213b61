//===- CudaDevice.h - device that executes programs on an NVIDIA GPU ------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"

#include <memory>
#include <string>

namespace pcc::runtime {

class CudaContext;

/// Opens one GPU, and sets `device` to a new object that executes programs on
/// this GPU. `localRank` is the index of this rank among the ranks on the same
/// host. The GPU has the index `localRank` modulo the number of visible GPUs.
/// Sets `gpu` to the CudaContext that `device` owns. `bundle` is the directory
/// of the compiled model, in which `device` stores the algorithms of cuBLASLt.
///
/// Returns an error with exit code 13 (NoDevice) if there is no driver or no
/// GPU. `device` and `gpu` are set even then.
Status createCudaDevice(int localRank, const std::string &bundle,
                        std::unique_ptr<Device> &device, CudaContext *&gpu);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
