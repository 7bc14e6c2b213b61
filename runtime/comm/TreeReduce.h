//===- TreeReduce.h - deterministic tree reduction over group members -----===//
//
// Communicators that reduce on the host (comm/thread, comm/mpi) use this
// reduction: a binary tree over the group's members, in member order. The
// result therefore has the same bits with threads and with processes.
//
//   5 members:   ((0 + 1) + (2 + 3)) + 4
//
// Fewer ranks can give the same bits, because an aligned block of 2, 4, …
// members is a subtree. Each of these ranks must stand for one such block, and
// must first add the block's parts in the same tree.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_TREEREDUCE_H
#define PCC_RUNTIME_COMM_TREEREDUCE_H

#include "runtime/comm/Communicator.h"
#include "runtime/tensor/ElementDispatch.h"

#include <algorithm>
#include <bit>
#include <span>
#include <type_traits>

namespace pcc::runtime {

/// Reduces the elements `left` and `right` by the reduction `kind`. A NaN
/// operand of a maximum or minimum gives NaN. Integers wrap around.
template <typename T>
inline T reduceTwo(dist::ReductionKind kind, T left, T right) {
  switch (kind) {
  case dist::ReductionKind::Max:
  case dist::ReductionKind::Or:
    return left > right || left != left ? left : right;
  case dist::ReductionKind::Min:
  case dist::ReductionKind::And:
    return left < right || left != left ? left : right;
  case dist::ReductionKind::Sum:
  case dist::ReductionKind::Prod:
    break;
  }
  if constexpr (std::is_integral_v<T>) {
    const auto a = uint64_t(static_cast<std::make_unsigned_t<T>>(left));
    const auto b = uint64_t(static_cast<std::make_unsigned_t<T>>(right));
    return static_cast<T>(kind == dist::ReductionKind::Sum ? a + b : a * b);
  } else {
    return kind == dist::ReductionKind::Sum ? left + right : left * right;
  }
}

/// Largest number of elements that one call of reduceBlock() reduces. The
/// function calls itself recursively, and each level of the recursion has a
/// buffer of this many elements. The number is small, so that the buffers of
/// all levels fit in the CPU's cache. For example, the recursion for 8 inputs
/// has 3 levels. With f32 elements (4 bytes each), the buffers of these levels
/// have 3 * 512 * 4 bytes = 6 KiB.
inline constexpr size_t reducedAtOnce = 512;

/// Reduces the elements [at, at + size) of the arrays `inputs` into `block`.
/// With two inputs and a sum, block[i] is inputs[0][at + i] + inputs[1][at +
/// i]. `size` must be at most `reducedAtOnce`. The results have the type
/// Computed<T>: f32 if T is f16 or bf16, otherwise T.
///
/// The order of the operations must not change, because threads and MPI
/// processes must get equal bits. For example, 5 inputs give ((0 + 1) + (2 +
/// 3)) + 4.
template <dist::ReductionKind kind, typename T>
void reduceBlock(std::span<const void *const> inputs, size_t at, size_t size,
                 Computed<T> *block) {
  using Wide = Computed<T>;
  if (inputs.size() == 1) {
    const T *source = static_cast<const T *>(inputs[0]) + at;
    for (size_t i = 0; i < size; ++i)
      block[i] = static_cast<Wide>(source[i]);
    return;
  }
  const size_t half = std::bit_floor(inputs.size() - 1);
  Wide right[reducedAtOnce];
  reduceBlock<kind, T>(inputs.first(half), at, size, block);
  reduceBlock<kind, T>(inputs.subspan(half), at, size, right);
  for (size_t i = 0; i < size; ++i)
    block[i] = reduceTwo(kind, block[i], right[i]);
}

/// Reduces the arrays `inputs` element by element: with two inputs and a sum,
/// result[i] = inputs[0][i] + inputs[1][i] for each index i in [begin, end).
/// Writes result[i] to index i of each array in `outputs`, so all outputs get
/// equal elements. T is the element type of all inputs and outputs.
///
/// The function processes at most `reducedAtOnce` elements of each array at a
/// time.
template <dist::ReductionKind kind, typename T>
void reduceInTreeAs(std::span<const void *const> inputs,
                    std::span<void *const> outputs, size_t begin, size_t end) {
  Computed<T> block[reducedAtOnce];
  for (size_t at = begin; at < end; at += reducedAtOnce) {
    const size_t size = std::min(reducedAtOnce, end - at);
    reduceBlock<kind, T>(inputs, at, size, block);
    for (void *output : outputs) {
      T *target = static_cast<T *>(output) + at;
      for (size_t i = 0; i < size; ++i)
        target[i] = static_cast<T>(block[i]);
    }
  }
}

/// Reduces the arrays `inputs` element by element: with two inputs and a sum,
/// result[i] = inputs[0][i] + inputs[1][i] for each index i in [begin, end).
/// Each input comes from one rank of a group. The function writes result[i] to
/// index i of each array in `outputs`, so all outputs get equal elements. An
/// output may be the same array as an input.
///
/// `kind` is the reduction, such as a sum or a maximum. `type` is the element
/// type of all inputs and outputs. Some types have special rules:
///
/// - f16 and bf16: the function computes in f32, and rounds only the final
///   result to f16 or bf16.
/// - Bool: a sum is a logical or, and a product is a logical and.
inline void reduceInTree(std::span<const void *const> inputs,
                         std::span<void *const> outputs, size_t begin,
                         size_t end, ElementType type,
                         dist::ReductionKind kind) {
  if (type == ElementType::Bool)
    kind = kind == dist::ReductionKind::Sum    ? dist::ReductionKind::Max
           : kind == dist::ReductionKind::Prod ? dist::ReductionKind::Min
                                               : kind;
  dispatch(type, [&](auto element) {
    using T = decltype(element);
    switch (kind) {
    case dist::ReductionKind::Sum:
      return reduceInTreeAs<dist::ReductionKind::Sum, T>(inputs, outputs, begin,
                                                         end);
    case dist::ReductionKind::Max:
    case dist::ReductionKind::Or:
      return reduceInTreeAs<dist::ReductionKind::Max, T>(inputs, outputs, begin,
                                                         end);
    case dist::ReductionKind::Min:
    case dist::ReductionKind::And:
      return reduceInTreeAs<dist::ReductionKind::Min, T>(inputs, outputs, begin,
                                                         end);
    case dist::ReductionKind::Prod:
      return reduceInTreeAs<dist::ReductionKind::Prod, T>(inputs, outputs,
                                                          begin, end);
    }
  });
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_TREEREDUCE_H
