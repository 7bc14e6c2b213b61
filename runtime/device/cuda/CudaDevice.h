//===- CudaDevice.h - device that executes programs on an NVIDIA GPU ------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"

#include <memory>
#include <string>

namespace pcc::runtime {

class CudaContext;

/// Creates the device of a rank. `device` owns the GPU, and `gpu` is set to the
/// GPU; both are set even if an error is returned. `bundle` is the directory
/// that pcc writes. The device stores there the algorithms that cuBLASLt
/// selects, for the next run. Exit code 13 (NoDevice) if there is no driver or
/// no GPU.
///
/// The rank uses the GPU with index `localRank` (the rank's index on this host)
/// modulo the number of visible GPUs, because some launchers make only one GPU
/// visible to each process. Two ranks can therefore get the same GPU by
/// mistake. The ranks detect this by comparing bus addresses
/// (CudaContext::findBus).
Status createCudaDevice(int localRank, const std::string &bundle,
                        std::unique_ptr<Device> &device, CudaContext *&gpu);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
