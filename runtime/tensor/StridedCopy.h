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

/// One loop of a strided copy. `extent` is the number of iterations. From one
/// iteration to the next, the index of the element that is read grows by
/// `sourceStride`, and the index of the element that is written grows by
/// `targetStride`. For example, the loop {3, 10, 1} copies the elements 0, 10
/// and 20 of the source to the elements 0, 1 and 2 of the target.
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

/// Returns whether the copy reads one contiguous range of the source, from the
/// first element to the last. For example, an outer loop has 2 iterations, and
/// an inner loop has 8 iterations. The source stride of a loop is the distance
/// in elements between two iterations of the loop. With the source strides 8
/// and 1, the loops read 16 contiguous elements, and the function returns true.
/// With the source strides 20 and 1, there is a gap of 12 elements after the
/// first 8 elements, and the function returns false.
bool isDenseSource(const StridedCopy &copy);
/// Returns whether the copy writes one contiguous range of the target, from the
/// first element to the last. For example, an outer loop has 2 iterations, and
/// an inner loop has 8 iterations. The target stride of a loop is the distance
/// in elements between two iterations of the loop. With the target strides 8
/// and 1, the loops write 16 contiguous elements, and the function returns
/// true. With the target strides 20 and 1, there is a gap of 12 elements after
/// the first 8 elements, and the function returns false.
bool isDenseTarget(const StridedCopy &copy);

/// Copies elements from host memory `source` to host memory `target`. `copy`
/// describes the elements to copy: the index of the first element in source and
/// target, and nested loops with strides. All indices and strides are in
/// elements. `elementSize` is the size of an element in bytes, and must be 1,
/// 2, 4 or 8. `source` and `target` must not overlap. Neither `source` nor
/// `target` needs to be aligned.
void runCopy(const StridedCopy &copy, const void *source, void *target,
             size_t elementSize);

/// Returns the extent of the outermost loop, or 1 if there are no loops.
inline int64_t outerExtent(const StridedCopy &copy) {
  return copy.loops.empty() ? 1 : copy.loops.front().extent;
}

/// Executes a part of `copy` from host memory `source` to host memory `target`:
/// the iterations `begin` to `end - 1` of the outermost loop. Several threads
/// can thus execute one copy in parallel. For example, the outermost loop has
/// 10 iterations. One thread executes the iterations 0 to 4 (begin = 0, end =
/// 5), and another thread executes the iterations 5 to 9 (begin = 5, end = 10).
///
/// A copy without loops moves one element. For this copy, `begin` must be 0 and
/// `end` must be 1. `elementSize` is 1, 2, 4 or 8 bytes.
void runCopyPart(const StridedCopy &copy, int64_t begin, int64_t end,
                 const void *source, void *target, size_t elementSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_STRIDEDCOPY_H
