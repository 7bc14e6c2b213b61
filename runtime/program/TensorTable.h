//===- TensorTable.h - kernel argument of multi-tensor launches -----------===//
//
// A multi-tensor launch (like multi-tensor apply in NVIDIA's Apex) applies one
// kernel to many small tensors, for instance the optimizer update to all
// weights. Each *part* has the same number of tensors, such as a weight, its
// gradient and its moments. The kernel takes this table by value as its first
// parameter: an array of i64 words.
//
//   | first tile per part | elements per part | addresses, part by part |
//   | slots               | parts             | parts * tensors         |
//
// A block finds the part of its tile by binary search over the first tiles. The
// number of slots is therefore a power of two. Slots without a part hold the
// largest i64, so that no tile belongs to them.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_TENSORTABLE_H
#define PCC_RUNTIME_PROGRAM_TENSORTABLE_H

#include <cstdint>

namespace pcc::runtime {

/// Layout of the table for one kernel that updates many tensors (multi-tensor
/// launch). The methods return the sizes of the table's sections and the index
/// of each entry, in 64-bit words. A part is a group of tensors that are
/// updated together, such as a weight and its gradient.
struct TensorTable {
  /// Tensors per part.
  int64_t tensors = 1;
  /// Number of parts (groups of tensors) that the table has space for.
  int64_t parts = 1;

  /// Number of 64-bit words in the largest parameters of a kernel, 32764 bytes
  /// on every supported GPU.
  static constexpr int64_t mostWords = 32764 / 8;

  /// Returns the largest number of parts (groups of `tensors` tensors) whose
  /// table fits into the parameters of one kernel. `shared` is the number of
  /// further 64-bit parameters.
  static constexpr int64_t mostParts(int64_t tensors, int64_t shared) {
    TensorTable table{tensors, 1};
    while (table.words() + shared <= mostWords)
      ++table.parts;
    return table.parts - 1;
  }
  /// Returns a table with space for mostParts(tensors, shared) parts (groups of
  /// tensors that are updated together).
  static constexpr TensorTable largest(int64_t tensors, int64_t shared) {
    return {tensors, mostParts(tensors, shared)};
  }

  /// Returns the number of words of the table's first section, which holds each
  /// part's first tile (block of elements). The kernel's binary search needs a
  /// power of two.
  constexpr int64_t slots() const {
    int64_t slots = 1;
    while (slots < parts)
      slots *= 2;
    return slots;
  }
  /// Returns the size of the whole table in 64-bit words.
  constexpr int64_t words() const { return slots() + parts + parts * tensors; }
  /// Returns the index of the word with the number of the first tile (block of
  /// elements) of `part`.
  static constexpr int64_t firstAt(int64_t part) { return part; }
  /// Returns the index of the word with the number of elements of `part`.
  constexpr int64_t elementsAt(int64_t part) const { return slots() + part; }
  /// Returns the index of the word with the address of tensor number `tensor`
  /// of `part` (a group of tensors).
  constexpr int64_t addressAt(int64_t part, int64_t tensor) const {
    return slots() + parts + part * tensors + tensor;
  }
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_TENSORTABLE_H
