//===- CudaDevice.h - device that executes programs on an NVIDIA GPU ------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"

#include <memory>
#include <string>

namespace pcc::runtime {

class CudaContext;

/// Creates the device of a rank. `device` owns the GPU, and `gpu` is set to the
/// GPU. `localRank` is the index of the rank among the ranks of this host.
/// `device` and `gpu` are set even if an error is returned. Exit code 13
/// (NoDevice) if there is no driver or no GPU.
///
/// The rank uses the GPU with index `localRank` modulo the number of visible
/// GPUs, because some launchers make only one GPU visible to each process. Two
/// ranks can therefore get the same GPU by mistake; the ranks detect this by
/// comparing bus addresses (CudaContext::findBus).
///
/// `bundle` is the path of the bundle, the directory that pcc writes. In that
/// directory the device stores the algorithms that cuBLASLt selects, for the
/// next run.
Status createCudaDevice(int localRank, const std::string &bundle,
                        std::unique_ptr<Device> &device, CudaContext *&gpu);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
