//===- StridedCopies.cpp - strided copies within a GPU's memory -----------===//

#include "runtime/device/cuda/StridedCopies.h"

#include <limits>

namespace pcc::runtime {

namespace {
/// A rectangle to copy: `height` rows of `width` contiguous bytes. A pitch is
/// the distance in bytes from one row to the next.
struct CopyRows {
  int64_t width = 0, height = 1, sourcePitch = 0, targetPitch = 0;
};
} // namespace

/// Enqueues the copy of the rectangle `rows` with one call of the driver.
static Status copyRows(const CudaContext &gpu, const CopyRows &rows,
                       const char *from, char *to) {
  if (rows.height == 1)
    return gpu.check(
        gpu.driver().cuMemcpyDtoDAsync(addressOf(to), addressOf(from),
                                       size_t(rows.width), gpu.stream()),
        "cuMemcpyDtoDAsync");
  // NOLINTNEXTLINE(bugprone-invalid-enum-default-initialization)
  CUDA_MEMCPY2D made = {};
  made.srcMemoryType = made.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  made.srcDevice = addressOf(from);
  made.dstDevice = addressOf(to);
  made.srcPitch = size_t(rows.sourcePitch);
  made.dstPitch = size_t(rows.targetPitch);
  made.WidthInBytes = size_t(rows.width);
  made.Height = size_t(rows.height);
  return gpu.check(gpu.driver().cuMemcpy2DAsync(&made, gpu.stream()),
                   "cuMemcpy2DAsync");
}

/// Enqueues one copy of the rectangle `rows` for each iteration of the nested
/// loops `loops`, which are outermost first. `size` is the size of an element
/// in bytes.
static Status copyLoops(const CudaContext &gpu, std::span<const CopyLoop> loops,
                        const CopyRows &rows, const char *from, char *to,
                        int64_t size) {
  if (loops.empty())
    return copyRows(gpu, rows, from, to);
  const CopyLoop &outer = loops.front();
  for (int64_t i = 0; i < outer.extent; ++i)
    PCC_RETURN_IF_ERROR(copyLoops(gpu, loops.subspan(1), rows,
                                  from + i * outer.sourceStride * size,
                                  to + i * outer.targetStride * size, size));
  return Status::success();
}

/// Copies one rectangle (rows of contiguous bytes) per driver call. `given` is
/// a nest of loops {extent, source stride, target stride}, with strides in
/// elements. If the strides of the innermost loop are 1, this loop becomes the
/// width of the rows. The next loop becomes the number of rows, if the driver
/// accepts its strides. Every iteration of the outer loops is one driver call.
///
/// For example, these loops copy the upper left 16 x 4 elements of two 20 x 16
/// matrices to two dense 16 x 4 matrices:
///
///   loops {2, 320, 64}   {16, 16, 4}   {4, 1, 1}
///         two calls      16 rows       4 elements per row
Status copyStrided(const CudaContext &gpu, const StridedCopy &given,
                   const void *from, void *to, size_t elementSize) {
  if (numElements(given) == 0)
    return Status::success();
  StridedCopy copy = given;
  simplify(copy);
  const auto size = int64_t(elementSize);
  std::span<const CopyLoop> loops = copy.loops;
  CopyRows rows{size};
  if (!loops.empty() && loops.back().sourceStride == 1 &&
      loops.back().targetStride == 1) {
    rows.width *= loops.back().extent;
    loops = loops.first(loops.size() - 1);
  }
  // The driver rejects overlapping rows, and pitches (distances in bytes from
  // one row to the next) above this limit.
  constexpr int64_t mostPitch = std::numeric_limits<int32_t>::max();
  if (!loops.empty() && loops.back().sourceStride * size >= rows.width &&
      loops.back().targetStride * size >= rows.width &&
      loops.back().sourceStride * size <= mostPitch &&
      loops.back().targetStride * size <= mostPitch) {
    rows.height = loops.back().extent;
    rows.sourcePitch = loops.back().sourceStride * size;
    rows.targetPitch = loops.back().targetStride * size;
    loops = loops.first(loops.size() - 1);
  }
  return copyLoops(gpu, loops, rows,
                   static_cast<const char *>(from) + copy.sourceOffset * size,
                   static_cast<char *>(to) + copy.targetOffset * size, size);
}

} // namespace pcc::runtime
