//===- RandomValues.cpp - counter-based random weights and inputs ---------===//

#include "runtime/tensor/RandomValues.h"
#include "runtime/tensor/ElementDispatch.h"

#include <algorithm>
#include <iterator>

namespace pcc::runtime {

/// Returns a hash of `value` by the finalizer of splitmix64 (Steele et al.
/// 2014), a bijection of 64-bit values.
static uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/// Returns a hash of the seed and the tensor's name. The function adds the
/// constant 0x9e3779b97f4a7c15, which is 2^64 divided by the golden ratio. The
/// random number generator splitmix64 adds this constant in each step.
static uint64_t keyOf(uint64_t seed, std::string_view name) {
  uint64_t key = mix(seed + 0x9e3779b97f4a7c15u);
  for (char letter : name)
    key = mix(key ^ uint8_t(letter)) + 0x9e3779b97f4a7c15u;
  return key;
}

RandomTensor randomWeight(uint64_t seed, std::string_view name,
                          ElementType type) {
  return {keyOf(seed, name), type, 0.05, 2};
}

RandomTensor randomInput(uint64_t seed, std::string_view name, ElementType type,
                         int64_t indexBound) {
  const bool narrow = sizeOf(type) == 1 && (indexBound > 127);
  return {keyOf(seed, name), type, 1.0,
          type == ElementType::Bool || indexBound < 1 ? 2
          : narrow                                    ? 127
                                                      : indexBound};
}

double randomValue(const RandomTensor &tensor, uint64_t index) {
  const uint64_t bits = mix(tensor.key + index * 0x9e3779b97f4a7c15u);
  const double unit = double(bits >> 11) * 0x1.0p-53;
  if (isFloat(tensor.type))
    return tensor.scale * (2 * unit - 1);
  return double(uint64_t(unit * double(tensor.indexBound)));
}

/// Calls `run` once for each launch of a GPU kernel that generates random
/// elements. `copy` contains nested loops over the elements. A launch executes
/// at most 4 loops (RandomScalars::mostLoops). This function executes all loops
/// outside the 4 innermost loops: if `copy` has 5 loops, and the outermost loop
/// has 3 iterations, there are 3 launches. If `copy` has fewer than 4 loops,
/// they become the last entries of RandomScalars::loops. The first entries stay
/// loops with one iteration.
void forEachRandomPart(uint64_t key, const StridedCopy &copy,
                       const std::function<void(const RandomScalars &)> &run) {
  if (copy.loops.size() > RandomScalars::mostLoops) {
    StridedCopy inner = copy;
    inner.loops.erase(inner.loops.begin());
    const CopyLoop &outer = copy.loops.front();
    for (int64_t i = 0; i < outer.extent; ++i) {
      forEachRandomPart(key, inner, run);
      inner.sourceOffset += outer.sourceStride;
      inner.targetOffset += outer.targetStride;
    }
    return;
  }
  RandomScalars part{int64_t(key), copy.sourceOffset, copy.targetOffset};
  std::copy_backward(copy.loops.begin(), copy.loops.end(),
                     std::end(part.loops));
  run(part);
}

void fillRandom(const RandomTensor &tensor, uint64_t index, int64_t step,
                int64_t count, void *target) {
  dispatch(tensor.type, [&](auto element) {
    using T = decltype(element);
    for (int64_t i = 0; i < count; ++i)
      static_cast<T *>(target)[i] = static_cast<T>(static_cast<Computed<T>>(
          randomValue(tensor, index + uint64_t(i * step))));
  });
}

} // namespace pcc::runtime
