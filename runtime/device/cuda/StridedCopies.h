//===- StridedCopies.h - loops of copies on the GPU -----------------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H
#define PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H

#include "runtime/device/cuda/CudaContext.h"
#include "runtime/tensor/StridedCopy.h"

namespace pcc::runtime {

/// Begins a copy within the GPU's memory, of elements of `size` bytes: one call
/// of the driver for each iteration of all loops but the innermost two.
Status copyStrided(const CudaContext &gpu, const StridedCopy &copy,
                   const void *from, void *to, size_t size);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H
