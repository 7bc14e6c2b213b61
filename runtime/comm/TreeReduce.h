//===- TreeReduce.h - reducing elements of members in a fixed order -------===//
//
// Every communicator that adds by itself adds through here, in a binary tree
// over the group's members, in their order: ranks as threads and as processes
// give the same bits, and so does one rank that does the same with what 2, 4, …
// of them have.
//
//   0 1 2 3 4:   ((0 + 1) + (2 + 3)) + 4
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

/// NaN wins every maximum and minimum; integers wrap.
template <typename T> inline T reduceTwo(Reduction kind, T left, T right) {
  switch (kind) {
  case Reduction::Max:
    return left > right || left != left ? left : right;
  case Reduction::Min:
    return left < right || left != left ? left : right;
  case Reduction::Sum:
  case Reduction::Prod:
    break;
  }
  if constexpr (std::is_integral_v<T>) {
    const auto a = static_cast<uint64_t>(left);
    const auto b = static_cast<uint64_t>(right);
    return static_cast<T>(kind == Reduction::Sum ? a + b : a * b);
  } else {
    return kind == Reduction::Sum ? left + right : left * right;
  }
}

/// Elements that are reduced at a time.
inline constexpr size_t reducedAtOnce = 512;

/// Reduces `size` elements from `at` on of all `inputs` into `block`. `kind` is
/// a constant, so that the loops have no branch.
template <Reduction kind, typename T>
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

template <Reduction kind, typename T>
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

/// Reduces elements [begin, end) of all `inputs` into every one of `outputs`.
/// An output may be one of the inputs. Halves accumulate in f32; a sum of bools
/// is their disjunction, a product their conjunction.
inline void reduceInTree(std::span<const void *const> inputs,
                         std::span<void *const> outputs, size_t begin,
                         size_t end, ElementType type, Reduction kind) {
  if (type == ElementType::Bool)
    kind = kind == Reduction::Sum    ? Reduction::Max
           : kind == Reduction::Prod ? Reduction::Min
                                     : kind;
  dispatch(type, [&](auto element) {
    using T = decltype(element);
    switch (kind) {
    case Reduction::Sum:
      return reduceInTreeAs<Reduction::Sum, T>(inputs, outputs, begin, end);
    case Reduction::Max:
      return reduceInTreeAs<Reduction::Max, T>(inputs, outputs, begin, end);
    case Reduction::Min:
      return reduceInTreeAs<Reduction::Min, T>(inputs, outputs, begin, end);
    case Reduction::Prod:
      return reduceInTreeAs<Reduction::Prod, T>(inputs, outputs, begin, end);
    }
  });
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_TREEREDUCE_H
