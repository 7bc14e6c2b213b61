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
/// Returns the parameters from which the elements of a random model input are
/// generated. `name` is the name of the model input, and `type` is the element
/// type of the model input. The elements depend on `seed` and on `name`.
///
/// Floating-point elements are uniform in [-1, 1). Integers are uniform in [0,
/// bound). The bound is
///
/// - 2 if `type` is Bool or `indexBound` is not positive;
/// - min(indexBound, 127) if `type` is I8 or U8;
/// - `indexBound` for all other integer types.
///
/// For example, `indexBound` is 32000 for an input of token ids that select
/// rows of a table with 32000 rows.
RandomTensor randomInput(uint64_t seed, std::string_view name, ElementType type,
                         int64_t indexBound);

/// Returns the random value of one element of `tensor`, as a double that is not
/// yet rounded to the element type `tensor.type`. `index` is the index of the
/// element in the whole tensor, in row-major order. For example, element [1, 2]
/// of a 4x8 tensor has the index 1 * 8 + 2 = 10.
double randomValue(const RandomTensor &tensor, uint64_t index);

/// Arguments of a GPU kernel that generates random elements of a tensor. The
/// kernel writes the elements to memory. The first argument of the kernel is
/// the address of this memory. Each non-static field of this struct gives
/// further arguments, in the order of declaration. These arguments are integers
/// of 64 bits.
///
/// `key` is RandomTensor::key. The kernel computes an element from `key` and
/// from the index of the element in the whole tensor. The memory can contain a
/// part of the tensor, so an element has another index in the memory. The
/// offsets and loops of this struct describe the two indices of each element.
/// "Source" refers to the index in the whole tensor, and "target" refers to the
/// index in the memory.
///
/// For example, the memory has room for rows 2 and 3 of a 4x8 tensor. Row 2
/// begins at the index 2 * 8 = 16 of the tensor, so `sourceOffset` is 16. Row 2
/// begins at the index 0 of the memory, so `targetOffset` is 0.
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
  /// Position of the first generated element. `sourceOffset` is the index of
  /// the element in the whole tensor. `targetOffset` is the index of the
  /// element in the memory to fill.
  int64_t sourceOffset = 0, targetOffset = 0;
  /// Nested loops over the elements to generate, outermost loop first. The
  /// numbers of a loop are {extent, sourceStride, targetStride}. The extent is
  /// the number of iterations. From one iteration to the next, the index in the
  /// whole tensor grows by `sourceStride`, and the index in the memory grows by
  /// `targetStride`. For example, rows 2 and 3 of a 4x8 tensor need these two
  /// loops:
  ///
  /// - {2, 8, 8} is the loop over the 2 rows. A row has 8 elements.
  /// - {8, 1, 1} is the loop over the 8 elements of a row.
  ///
  /// The array always has 4 entries. If fewer than 4 loops are needed, the
  /// first entries are {1, 0, 0}, which is a loop with one iteration. In the
  /// example, the array is
  ///
  ///   {{1, 0, 0}, {1, 0, 0}, {2, 8, 8}, {8, 1, 1}}
  CopyLoop loops[mostLoops] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
};

/// Calls `run` once for each launch of a GPU kernel that is needed to generate
/// random elements of a tensor. `run` receives the arguments of the kernel and
/// launches the kernel.
///
/// - `key` is the hash RandomTensor::key, from which the elements are
///   generated.
/// - `copy` tells which elements to generate. The source indices of `copy` are
///   the indices of the elements in the whole tensor. The target indices of
///   `copy` are the indices of the elements in the memory to fill.
///
/// One launch executes at most 4 nested loops (RandomScalars::mostLoops). If
/// `copy` has at most 4 loops, one launch is enough. If `copy` has more loops,
/// one launch is needed for each iteration of the loops outside the 4 innermost
/// loops. For example, `copy` has 5 loops, and the outermost loop has 3
/// iterations. The function then calls `run` 3 times.
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
