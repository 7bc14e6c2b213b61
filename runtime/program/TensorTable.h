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

/// Describes a table of 64-bit words, the first parameter of a GPU kernel that
/// updates many tensors in one launch. A part is a group of tensors of equal
/// size that are updated together, such as a weight and its gradient. A tile is
/// a range of indices in a part, such as 0 to 1023. Tiles are numbered from 0
/// over all parts. The table has three sections, each for all parts:
///
/// - section 1: the number of the part's first tile;
/// - section 2: the number of elements of each tensor in the part;
/// - section 3: the addresses of the tensors in the part.
struct TensorTable {
  /// Tensors per part.
  int64_t tensors = 1;
  /// Number of parts for which the table has space. The table is a parameter of
  /// a GPU kernel that updates many tensors in one launch. A part is a group of
  /// tensors that the kernel updates together, such as a weight and its
  /// gradient.
  int64_t parts = 1;

  /// Largest total size of a kernel's parameters, as a number of 64-bit words.
  /// Every supported GPU allows 32764 bytes of parameters per kernel.
  static constexpr int64_t mostWords = 32764 / 8;

  /// Returns the largest number of parts that a GPU kernel can update in one
  /// launch. A part is a group of tensors that the kernel updates together,
  /// such as a weight and its gradient. `tensors` is the number of tensors in
  /// each part, such as 2.
  ///
  /// The first parameter of the kernel is a table with the addresses and sizes
  /// of all tensors. `shared` is the number of the other parameters, each of 64
  /// bits. The GPU limits the total size of all parameters to `mostWords` words
  /// of 64 bits. The result is the largest number of parts for which the table
  /// and the other parameters fit into this size.
  static constexpr int64_t mostParts(int64_t tensors, int64_t shared) {
    TensorTable table{tensors, 1};
    while (table.words() + shared <= mostWords)
      ++table.parts;
    return table.parts - 1;
  }
  /// Describes the largest table that fits into the parameters of one kernel.
  /// The kernel updates many tensors in one launch. The table contains the
  /// addresses and sizes of these tensors. The tensors form groups, such as a
  /// weight and its gradient. `tensors` is the number of tensors in each group,
  /// such as 2. The field `parts` of the result is the largest number of groups
  /// for which the table fits. The table is the first parameter of the kernel.
  /// `shared` is the number of the other parameters, each of 64 bits.
  static constexpr TensorTable largest(int64_t tensors, int64_t shared) {
    return {tensors, mostParts(tensors, shared)};
  }

  /// Returns the number of 64-bit words in the first of the three sections of
  /// the table. The table is a parameter of a GPU kernel that updates many
  /// tensors in one launch. A part is a group of tensors that the kernel
  /// updates together, such as a weight and its gradient. The first section has
  /// one word per part.
  ///
  /// The number of words is rounded up to a power of two, because the kernel
  /// runs a binary search over the section. For example, a table for 5 parts
  /// has 8 words in the first section.
  constexpr int64_t slots() const {
    int64_t slots = 1;
    while (slots < parts)
      slots *= 2;
    return slots;
  }
  /// Returns the size of the whole table, as a number of 64-bit words. The
  /// table is a parameter of a GPU kernel that updates many tensors in one
  /// launch. For example, the table describes 5 weights and their gradients:
  /// `parts` is 5, and `tensors` is 2. The first section has one word per part,
  /// rounded up to a power of two: 8 words. The second section has one word per
  /// part: 5 words. The third section has one word per tensor: 10 words. The
  /// result is 8 + 5 + 10 = 23.
  constexpr int64_t words() const { return slots() + parts + parts * tensors; }
  /// Returns the index of a word in the table. The table is an array of 64-bit
  /// words, and a parameter of a GPU kernel that updates many tensors in one
  /// launch. A part is a group of tensors that the kernel updates together,
  /// such as a weight and its gradient. Each part is cut into tiles. A tile is
  /// a range of element indices, such as 0 to 1023.
  ///
  /// The word at the returned index contains the number of the first tile of
  /// part number `part`. The tiles of all parts are numbered from 0. For
  /// example, if part 0 has 3 tiles, the first tile of part 1 has the number 3.
  static constexpr int64_t firstAt(int64_t part) { return part; }
  /// Returns the index of a word in the table. The table is an array of 64-bit
  /// words, and a parameter of a GPU kernel that updates many tensors in one
  /// launch. A part is a group of tensors that the kernel updates together,
  /// such as a weight and its gradient. All tensors of a part have the same
  /// number of elements. The word at the returned index contains this number
  /// for part number `part`.
  constexpr int64_t elementsAt(int64_t part) const { return slots() + part; }
  /// Returns the index of a word in the table. The table is an array of 64-bit
  /// words, and a parameter of a GPU kernel that updates many tensors in one
  /// launch. A part is a group of tensors that the kernel updates together,
  /// such as a weight and its gradient. The word at the returned index contains
  /// the address of tensor number `tensor` of part number `part`.
  constexpr int64_t addressAt(int64_t part, int64_t tensor) const {
    return slots() + parts + part * tensors + tensor;
  }
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_TENSORTABLE_H
