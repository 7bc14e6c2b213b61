//===- StridedCopies.h - strided copies within a GPU's memory -------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H
#define PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H

#include "runtime/device/cuda/CudaContext.h"
#include "runtime/tensor/StridedCopy.h"

namespace pcc::runtime {

/// Enqueues a copy of elements from the GPU memory `from` to the GPU memory
/// `to`. The two memories must not overlap. An element has `size` bytes. `copy`
/// is a nest of loops that selects the elements. Each iteration of the
/// innermost loop copies one element. For example, a loop of 2 iterations
/// around a loop of 8 iterations can copy rows 2 and 3 of a 4x8 matrix to a 2x8
/// matrix.
///
/// A rectangle is a number of rows. Each row is contiguous, and the distance
/// from one row to the next is constant. One call of the driver copies one
/// rectangle. In the example, one call is enough.
Status copyStrided(const CudaContext &gpu, const StridedCopy &copy,
                   const void *from, void *to, size_t size);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_STRIDEDCOPIES_H
