//===- StridedCopies.h - strided copies within a GPU's memory -------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H
#define PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H

#include "runtime/device/cuda/CudaContext.h"
#include "runtime/tensor/StridedCopy.h"

namespace pcc::runtime {

/// Enqueues the strided copy `copy` from `from` to `to`, two ranges of GPU
/// memory that must not overlap. Elements have `size` bytes. Each call of the
/// driver copies one rectangle (contiguous rows at a constant distance).
Status copyStrided(const CudaContext &gpu, const StridedCopy &copy,
                   const void *from, void *to, size_t size);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H
