//===- CudaDevice.h - device that executes programs on an NVIDIA GPU ------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"

#include <memory>
#include <string>

namespace pcc::runtime {

class CudaContext;

/// Opens one GPU, and sets `device` to a new object that executes the program
/// of this rank on the GPU. A rank is one process of the run. `localRank` is
/// the index of this rank among the ranks on the same host. The index of the
/// GPU is `localRank` modulo the number of GPUs that are visible to this
/// process. For example, with 4 visible GPUs, the rank with `localRank` 3 opens
/// GPU 3. Some launchers make only one GPU visible to each process. The rank
/// with `localRank` 3 then opens GPU 0.
///
/// The function sets `gpu` to the address of a CudaContext, which is the object
/// that represents the GPU. `device` owns the CudaContext. `gpu` is therefore
/// valid as long as `device` exists.
///
/// `bundle` is the directory that the compiler has written. cuBLASLt selects an
/// algorithm for each matrix product. `device` stores the selected algorithms
/// in a file in `bundle`.
///
/// If there is no driver or no GPU, the function returns an error with exit
/// code 13 (NoDevice). The function sets `device` and `gpu` even if it returns
/// an error.
Status createCudaDevice(int localRank, const std::string &bundle,
                        std::unique_ptr<Device> &device, CudaContext *&gpu);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
