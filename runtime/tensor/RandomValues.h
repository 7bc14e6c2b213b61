//===- RandomValues.h - counter-based random weights and inputs -----------===//
//
// Random values replace weights and inputs that are absent. The generator is
// counter-based, like Philox (Salmon et al. 2011), with the finalizer of
// splitmix64 as its bijection. The value of an element depends only on the
// seed, the tensor's name and the element's global index. Every sharding, and
// every device, therefore sees the same numbers without communication.
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

/// Parameters of one random tensor. An element's value depends only on them and
/// on its global index.
struct RandomTensor {
  /// Hash of the seed and the tensor's name, from which all values are
  /// generated.
  uint64_t key = 0;
  ElementType type = ElementType::F32;
  /// Bound of floating-point values, which are uniform in [-scale, scale).
  double scale = 1;
  /// Bound of integer values, which are uniform in [0, indexBound).
  int64_t indexBound = 2;
};

/// Returns the parameters of a weight with random values. Floating-point values
/// are in [-0.05, 0.05), integers are 0 or 1.
RandomTensor randomWeight(uint64_t seed, std::string_view name,
                          ElementType type);
/// Returns the parameters of a model input with random values. Floating-point
/// values are in [-1, 1). Integers are in [0, bound), where bound is
///
/// - 2 if the type is Bool or `indexBound` is not positive;
/// - min(indexBound, 127) for one-byte types;
/// - `indexBound` for all other types.
RandomTensor randomInput(uint64_t seed, std::string_view name, ElementType type,
                         int64_t indexBound);

/// Returns the value of the element at row-major global index `index`, before
/// it is rounded to `tensor.type`.
double randomValue(const RandomTensor &tensor, uint64_t index);

/// Scalar arguments of the GPU kernel that generates random elements of a
/// tensor. They follow the address of the memory to fill, each as an i64.
///
/// - Source offset and strides give an element's index in the whole tensor,
///   which determines its value.
/// - Target offset and strides give its index in the memory to fill.
struct RandomScalars {
  /// Number of nested loops in the kernel. Further outer loops run on the host,
  /// with one kernel launch per iteration.
  static constexpr int mostLoops = 4;
  /// Number of CUDA threads per block. Each thread generates one element.
  static constexpr int threads = 256;

  int64_t key = 0;
  /// Position of the first generated element. `sourceOffset` is the index of
  /// the element in the whole tensor. `targetOffset` is the index of the
  /// element in the memory to fill.
  int64_t sourceOffset = 0, targetOffset = 0;
  /// Nested loops over the elements to generate, outermost loop first. Each
  /// loop has the number of iterations, the source stride and the target
  /// stride. A copy with fewer loops uses the last entries. The other entries
  /// stay {1, 0, 0}, which is a loop with one iteration.
  CopyLoop loops[mostLoops] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
};

/// Splits `copy` into parts, and calls `run` for each part. A part has at most
/// RandomScalars::mostLoops nested loops, which is 4. A copy with more loops is
/// split at its outer loops. For example, a copy with 5 loops whose outermost
/// loop has 3 iterations becomes 3 parts with 4 loops. `key` is the hash
/// RandomTensor::key.
void forEachRandomPart(uint64_t key, const StridedCopy &copy,
                       const std::function<void(const RandomScalars &)> &run);

/// Generates `count` elements of `tensor` with the global indices index, index
/// + step, index + 2 step, …. Writes them contiguously to `target`.
void fillRandom(const RandomTensor &tensor, uint64_t index, int64_t step,
                int64_t count, void *target);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_RANDOMVALUES_H
