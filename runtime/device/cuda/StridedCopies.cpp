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

/// Enqueues a copy from the GPU address `from` to the GPU address `to`. The
/// function copies `rows.height` rows of `rows.width` bytes. Each row is
/// contiguous. `rows` also has the distance from one row to the next, in the
/// source and in the target. One call of the driver copies all rows.
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

/// Copies one rectangle for each iteration of a nest of loops. `loops` lists
/// the loops, outermost first. If the list is empty, one rectangle is copied.
///
/// `rows` has the size of every rectangle. The first rectangle is copied from
/// the address `from` to the address `to`. Each iteration of a loop moves both
/// addresses by the strides of the loop. Strides are in elements, and an
/// element has `size` bytes. For example, a loop of 3 iterations with source
/// stride 20 and target stride 8 copies 3 rectangles: from elements 0, 20 and
/// 40 of the source to elements 0, 8 and 16 of the target.
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

/// Copies elements of `elementSize` bytes from the GPU memory `from` to the GPU
/// memory `to`. `given` is a nest of loops, outermost first. Each iteration of
/// the innermost loop copies one element. One call of the driver copies a
/// rectangle of contiguous rows. The innermost loop becomes a row if both its
/// strides are 1. The next loop becomes the rows of a rectangle if the driver
/// accepts the strides. Each iteration of the other loops is one call. For
/// example, loops with 2, 16 and 4 iterations become two calls, each of which
/// copies 16 rows of 4 elements.
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
  // One call of the driver can copy several rows. A pitch is the distance, in
  // bytes, from one row to the next. The driver rejects a pitch above
  // `mostPitch`. The driver also rejects a pitch that is less than the length
  // of a row, because the rows would overlap.
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
