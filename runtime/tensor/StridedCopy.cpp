//===- StridedCopy.cpp - strided copies as loop nests ---------------------===//

#include "runtime/tensor/StridedCopy.h"

#include <cassert>
#include <cstring>

namespace pcc::runtime {

int64_t numElements(const StridedCopy &copy) {
  int64_t product = 1;
  for (const CopyLoop &loop : copy.loops)
    product *= loop.extent;
  return product;
}

void simplify(StridedCopy &copy) {
  std::vector<CopyLoop> merged;
  for (const CopyLoop &loop : copy.loops) {
    if (loop.extent == 1)
      continue;
    if (!merged.empty()) {
      CopyLoop &outer = merged.back();
      if (outer.sourceStride == loop.extent * loop.sourceStride &&
          outer.targetStride == loop.extent * loop.targetStride) {
        outer = {outer.extent * loop.extent, loop.sourceStride,
                 loop.targetStride};
        continue;
      }
    }
    merged.push_back(loop);
  }
  copy.loops = std::move(merged);
}

/// Returns whether a copy reads or writes one contiguous range of elements. If
/// `stride` is the field `sourceStride`, the function examines the elements
/// that the copy reads. If `stride` is the field `targetStride`, the function
/// examines the elements that the copy writes.
///
/// For example, an outer loop has 2 iterations, and an inner loop has 8
/// iterations. With the strides 8 and 1, the loops visit the elements 0 to 15,
/// and the function returns true. With the strides 20 and 1, the loops visit
/// the elements 0 to 7 and 20 to 27, and the function returns false. The stride
/// of a loop with one iteration has no effect.
static bool isDense(const StridedCopy &copy, int64_t CopyLoop::*stride) {
  int64_t expected = 1;
  for (auto loop = copy.loops.rbegin(); loop != copy.loops.rend(); ++loop) {
    if (loop->extent != 1 && (*loop).*stride != expected)
      return false;
    expected *= loop->extent;
  }
  return true;
}

bool isDenseSource(const StridedCopy &copy) {
  return isDense(copy, &CopyLoop::sourceStride);
}
bool isDenseTarget(const StridedCopy &copy) {
  return isDense(copy, &CopyLoop::targetStride);
}

/// Executes nested loops that copy elements from `source` to `target`. `loops`
/// contains the loops, outermost loop first. The function executes only the
/// first `extent` iterations of the outermost loop, and all iterations of the
/// other loops. If the innermost loop has the strides 1 and 1, the elements of
/// this loop are contiguous in `source` and `target`. The function then copies
/// these elements by a single call of memcpy().
template <typename Element>
static void runLoops(std::span<const CopyLoop> loops, int64_t extent,
                     const Element *source, Element *target) {
  const CopyLoop &loop = loops.front();
  if (loops.size() == 1 && loop.sourceStride == 1 && loop.targetStride == 1) {
    std::memcpy(target, source, size_t(extent) * sizeof(Element));
    return;
  }
  if (loops.size() == 1) {
    for (int64_t i = 0; i < extent; ++i)
      std::memcpy(target + i * loop.targetStride,
                  source + i * loop.sourceStride, sizeof(Element));
    return;
  }
  for (int64_t i = 0; i < extent; ++i)
    runLoops(loops.subspan(1), loops[1].extent, source + i * loop.sourceStride,
             target + i * loop.targetStride);
}

namespace {
/// Type of a tensor element of N bytes. This type serves all element types of
/// the same size, because a copy only moves the bytes of an element. For
/// example, Bytes<4> serves F32 and I32. An object of this type can be at any
/// address, because the alignment of unsigned char is 1.
template <size_t N> struct Bytes {
  unsigned char value[N];
};
} // namespace

/// Executes iterations [begin, end) of the outermost loop of a copy, with
/// elements of N bytes.
template <size_t N>
static void runSized(const StridedCopy &copy, int64_t begin, int64_t end,
                     const void *source, void *target) {
  const auto *from = static_cast<const Bytes<N> *>(source) + copy.sourceOffset;
  auto *to = static_cast<Bytes<N> *>(target) + copy.targetOffset;
  if (copy.loops.empty()) {
    *to = *from;
    return;
  }
  const CopyLoop &outer = copy.loops.front();
  runLoops<Bytes<N>>(copy.loops, end - begin, from + begin * outer.sourceStride,
                     to + begin * outer.targetStride);
}

void runCopyPart(const StridedCopy &copy, int64_t begin, int64_t end,
                 const void *source, void *target, size_t elementSize) {
  assert((elementSize == 1 || elementSize == 2 || elementSize == 4 ||
          elementSize == 8) &&
         "no size of an element");
  switch (elementSize) {
  case 1:
    return runSized<1>(copy, begin, end, source, target);
  case 2:
    return runSized<2>(copy, begin, end, source, target);
  case 4:
    return runSized<4>(copy, begin, end, source, target);
  default:
    return runSized<8>(copy, begin, end, source, target);
  }
}

void runCopy(const StridedCopy &copy, const void *source, void *target,
             size_t elementSize) {
  runCopyPart(copy, 0, outerExtent(copy), source, target, elementSize);
}

} // namespace pcc::runtime
