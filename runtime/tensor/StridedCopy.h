//===- StridedCopy.h - nested loops that copy elements --------------------===//

#ifndef PCC_RUNTIME_TENSOR_STRIDEDCOPY_H
#define PCC_RUNTIME_TENSOR_STRIDEDCOPY_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pcc::runtime {

struct CopyLoop {
  int64_t extent;
  int64_t sourceStride;
  int64_t targetStride;
  bool operator==(const CopyLoop &) const = default;
};

/// Loops are outermost first; offsets and strides are in elements. No loops:
/// one element.
struct StridedCopy {
  int64_t sourceOffset = 0;
  int64_t targetOffset = 0;
  std::vector<CopyLoop> loops = {};
};

int64_t numElements(const StridedCopy &copy);

/// Drops loops of extent one and merges neighbours that run on in both
/// memories.
void simplify(StridedCopy &copy);

/// Whether the elements lie densely, in loop order, on that side.
bool isDenseSource(const StridedCopy &copy);
bool isDenseTarget(const StridedCopy &copy);

/// Runs the loops. `elementSize` is 1, 2, 4 or 8 bytes; the memories must not
/// overlap.
void runCopy(const StridedCopy &copy, const void *source, void *target,
             size_t elementSize);

/// Iterations of the outermost loop, 1 if there is none.
inline int64_t outerExtent(const StridedCopy &copy) {
  return copy.loops.empty() ? 1 : copy.loops.front().extent;
}

/// Runs iterations [begin, end) of the outermost loop.
void runCopyPart(const StridedCopy &copy, int64_t begin, int64_t end,
                 const void *source, void *target, size_t elementSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_STRIDEDCOPY_H
