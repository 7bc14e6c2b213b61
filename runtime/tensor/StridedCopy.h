//===- StridedCopy.h - strided copies as loop nests -----------------------===//
//
// Resharding, weight loading and checkpoints move rectangular parts between
// memories of different strides. A StridedCopy describes such a move once,
// before the data exists. Devices execute it, and plans can simplify it and
// test whether a side is contiguous.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_TENSOR_STRIDEDCOPY_H
#define PCC_RUNTIME_TENSOR_STRIDEDCOPY_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pcc::runtime {

/// One loop of a strided copy: its extent (number of iterations), and the
/// distance in elements between two iterations in source and target.
struct CopyLoop {
  int64_t extent;
  int64_t sourceStride;
  int64_t targetStride;
  bool operator==(const CopyLoop &) const = default;
};

/// Copy of elements between two arrays, as a loop nest. Each iteration of the
/// innermost loop copies one element. The first entry of `loops` is the
/// outermost loop. An offset is the index of the first element that is read or
/// written. Offsets and strides are in elements.
///
/// For example, this nest copies rows 2 and 3 of a dense 4x8 matrix to a dense
/// 2x8 matrix. The numbers of a loop are its extent, source stride and target
/// stride:
///
///   sourceOffset = 16, targetOffset = 0, loops = {{2, 8, 8}, {8, 1, 1}}
struct StridedCopy {
  int64_t sourceOffset = 0;
  int64_t targetOffset = 0;
  std::vector<CopyLoop> loops = {};
};

/// Returns the number of elements that the copy moves.
int64_t numElements(const StridedCopy &copy);

/// Simplifies the loop nest of `copy`. The copied elements and their order stay
/// unchanged.
///
/// - Removes each loop with one iteration.
/// - Merges two nested loops into one, if a single loop visits the same
///   elements in source and target. For example, {{2, 8, 8}, {8, 1, 1}} becomes
///   {{16, 1, 1}}. The numbers of a loop are its extent (number of iterations),
///   source stride and target stride.
void simplify(StridedCopy &copy);

/// Returns whether consecutive elements of the copy are adjacent in the source.
bool isDenseSource(const StridedCopy &copy);
/// Returns whether consecutive elements of the copy are adjacent in the target.
bool isDenseTarget(const StridedCopy &copy);

/// Executes `copy` from host memory `source` to host memory `target`, which
/// must not overlap. `elementSize` is 1, 2, 4 or 8 bytes. Neither `source` nor
/// `target` needs to be aligned.
void runCopy(const StridedCopy &copy, const void *source, void *target,
             size_t elementSize);

/// Returns the extent of the outermost loop, or 1 if there are no loops.
inline int64_t outerExtent(const StridedCopy &copy) {
  return copy.loops.empty() ? 1 : copy.loops.front().extent;
}

/// Executes iterations [begin, end) of the outermost loop of `copy`, so that
/// threads can share a copy. A copy without loops has the single iteration [0,
/// 1).
void runCopyPart(const StridedCopy &copy, int64_t begin, int64_t end,
                 const void *source, void *target, size_t elementSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_STRIDEDCOPY_H
