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

/// Parameters of a tensor with random elements. The value of an element depends
/// only on these parameters and on the index of the element in the whole
/// tensor, in row-major order. For example, element [1, 2] of a 4x8 tensor has
/// the index 1 * 8 + 2 = 10. The sharding of the tensor does not affect the
/// value.
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

/// Returns the parameters from which the elements of a random weight are
/// generated. `name` is the name of the weight, and `type` is the element type
/// of the weight. The elements depend on `seed` and on `name`. Floating-point
/// elements are uniform in [-0.05, 0.05). Integers are 0 or 1.
RandomTensor randomWeight(uint64_t seed, std::string_view name,
                          ElementType type);
/// Returns the parameters that generate the elements of the random model input
/// `name`. The elements depend on `seed` and `name`. Floating-point elements
/// are uniform in [-1, 1). Integers are uniform in [0, bound), with this bound:
///
/// - 2 if `type` is Bool or `indexBound` is not positive;
/// - min(indexBound, 127) if `type` is I8 or U8;
/// - `indexBound` for all other integer types. For example, it is 32000 for
///   token ids that select rows of a table with 32000 rows.
RandomTensor randomInput(uint64_t seed, std::string_view name, ElementType type,
                         int64_t indexBound);

/// Returns the random value of one element of `tensor`, as a double that is not
/// yet rounded to the element type `tensor.type`. `index` is the index of the
/// element in the whole tensor, in row-major order. For example, element [1, 2]
/// of a 4x8 tensor has the index 1 * 8 + 2 = 10.
double randomValue(const RandomTensor &tensor, uint64_t index);

/// Arguments of a GPU kernel that generates random elements of a tensor. The
/// first argument of the kernel is the address of the memory to fill. The
/// non-static fields follow in the order of declaration, as 64-bit integers. An
/// element depends on `key` (RandomTensor::key) and on the index of the element
/// in the whole tensor, called "source". The memory may hold only a part of the
/// tensor; "target" is the index in the memory. For example, if the memory
/// holds rows 2 and 3 of a 4x8 tensor, `sourceOffset` is 2 * 8 = 16, and
/// `targetOffset` is 0.
struct RandomScalars {
  /// Largest number of nested loops that one launch of the GPU kernel can
  /// execute. The loops visit the elements to generate. For example, two loops
  /// visit the elements of rows 2 and 3 of a 4x8 matrix: one loop over the 2
  /// rows, and one loop over the 8 elements of a row.
  ///
  /// If the elements need more than 4 loops, the host executes the outermost
  /// loops, and the kernel executes the 4 innermost loops. The host launches
  /// the kernel once in each iteration. For example, the elements need 6 loops,
  /// and the two outermost loops have 3 and 5 iterations. The host then
  /// launches the kernel 3 * 5 = 15 times.
  static constexpr int mostLoops = 4;
  /// Number of CUDA threads per block. Each thread generates one element.
  static constexpr int threads = 256;

  int64_t key = 0;
  /// Indices of the first generated element. `sourceOffset` is the index of the
  /// element in the whole tensor. `targetOffset` is the index of the element in
  /// the memory to fill.
  int64_t sourceOffset = 0, targetOffset = 0;
  /// Nested loops over the elements to generate, outermost loop first. A loop
  /// is {extent, sourceStride, targetStride}: the number of iterations, and the
  /// steps of the index in the whole tensor and of the index in the memory.
  /// Unused entries come first, and are loops with one iteration. For example,
  /// rows 2 and 3 of a 4x8 tensor (2 rows of 8 elements) need these loops:
  ///
  ///   {{1, 0, 0}, {1, 0, 0}, {2, 8, 8}, {8, 1, 1}}
  CopyLoop loops[mostLoops] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
};

/// Calls `run` once for each launch of a GPU kernel that generates random
/// elements of a tensor. `run` receives the kernel's arguments and must launch
/// the kernel. `key` is RandomTensor::key. `copy` lists the elements to
/// generate. The source indices of `copy` refer to the whole tensor, and the
/// target indices refer to the memory to fill. One launch executes at most 4
/// nested loops (RandomScalars::mostLoops). If `copy` has more loops, each
/// iteration of the loops outside the 4 innermost loops needs a launch.
void forEachRandomPart(uint64_t key, const StridedCopy &copy,
                       const std::function<void(const RandomScalars &)> &run);

/// Generates `count` elements of `tensor`, and writes the elements to `target`
/// without gaps. `index` is the index of the first element in the whole tensor,
/// in row-major order. `step` is the distance between the indices of two
/// consecutive elements. For example, if `index` is 5, `step` is 3 and `count`
/// is 4, the function generates the elements with the indices 5, 8, 11 and 14.
void fillRandom(const RandomTensor &tensor, uint64_t index, int64_t step,
                int64_t count, void *target);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_RANDOMVALUES_H
