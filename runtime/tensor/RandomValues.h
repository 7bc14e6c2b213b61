//===- RandomValues.h - stand-ins for absent weights and inputs -----------===//
//
// Counter-based: an element's value depends on the seed, the tensor's name and
// the element's logical index only, so that no layout changes the numbers.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_TENSOR_RANDOMVALUES_H
#define PCC_RUNTIME_TENSOR_RANDOMVALUES_H

#include "runtime/tensor/ElementType.h"
#include "runtime/tensor/StridedCopy.h"

#include <cstdint>
#include <functional>
#include <string_view>

namespace pcc::runtime {

/// What all elements of one tensor share.
struct RandomTensor {
  uint64_t key = 0;
  ElementType type = ElementType::F32;
  double scale = 1;       ///< floats are uniform in [-scale, scale)
  int64_t indexBound = 2; ///< integers are uniform in [0, indexBound)
};

/// The stand-in of a weight: floats in [-0.05, 0.05), integers 0 or 1.
RandomTensor randomWeight(uint64_t seed, std::string_view name,
                          ElementType type);
/// The stand-in of an input: floats in [-1, 1), integers below `indexBound` (or
/// 2 if that is not positive).
RandomTensor randomInput(uint64_t seed, std::string_view name, ElementType type,
                         int64_t indexBound);

/// The value of one element before it is rounded to the type.
double randomValue(const RandomTensor &tensor, uint64_t index);

/// What a kernel that makes elements takes behind the tensor's address, as i64:
/// loops over the tensor as it is stored, and over the one that is made.
struct RandomScalars {
  /// Loops that a kernel has; it runs once per iteration of those around them.
  static constexpr int mostLoops = 4;
  /// Threads of a block on a GPU; each makes one element.
  static constexpr int threads = 256;

  int64_t key = 0;
  int64_t sourceOffset = 0, targetOffset = 0;
  CopyLoop loops[mostLoops] = {
      {1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}}; ///< outermost first
};

/// Calls `run` for parts of `copy` that a kernel makes at once.
void forEachRandomPart(uint64_t key, const StridedCopy &copy,
                       const std::function<void(const RandomScalars &)> &run);

/// Writes elements index, index + step, … (`count` of them) to `target`,
/// densely.
void fillRandom(const RandomTensor &tensor, uint64_t index, int64_t step,
                int64_t count, void *target);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_RANDOMVALUES_H
