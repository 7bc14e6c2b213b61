//===- StridedCopies.h - strided copies within a GPU's memory -------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H
#define PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H

#include "runtime/device/cuda/CudaContext.h"
#include "runtime/tensor/StridedCopy.h"

namespace pcc::runtime {

/// Enqueues a copy within the GPU's memory, of elements of `size` bytes. The
/// driver copies a rectangle per call: contiguous rows at a constant pitch. The
/// innermost loops form the rectangle as far as their strides allow that; each
/// iteration of the remaining loops is a call of its own. Source and target
/// must not overlap.
Status copyStrided(const CudaContext &gpu, const StridedCopy &copy,
                   const void *from, void *to, size_t size);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H
