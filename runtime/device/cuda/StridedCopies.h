//===- StridedCopies.h - strided copies within a GPU's memory -------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H
#define PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H

#include "runtime/device/cuda/CudaContext.h"
#include "runtime/tensor/StridedCopy.h"

namespace pcc::runtime {

/// Enqueues the strided copy `copy` of elements of `size` bytes from `from` to
/// `to`, two ranges of GPU memory that must not overlap. One call of the driver
/// copies a rectangle: contiguous rows with a constant distance between them.
/// The innermost loops of `copy` form the rectangle if their strides allow it.
/// The driver is called once for each iteration of the other loops.
Status copyStrided(const CudaContext &gpu, const StridedCopy &copy,
                   const void *from, void *to, size_t size);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H
