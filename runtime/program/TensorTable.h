//===- TensorTable.h - the tensors of one launch --------------------------===//
//
// A kernel that goes over many tensors, its *parts*, takes this by value in
// front of its other parameters: i64 words, in which a block finds the part
// that its tile is of.
//
//   the first tile of each part | elements of each | addresses, part by part
//
// Parts that a launch does not have begin behind all tiles. There is room for
// `slots` first tiles, a power of two, which a search halves.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_TENSORTABLE_H
#define PCC_RUNTIME_PROGRAM_TENSORTABLE_H

#include <cstdint>

namespace pcc::runtime {

struct TensorTable {
  int64_t tensors = 1; ///< of a part
  int64_t parts = 1;   ///< that there is room for

  /// What every GPU takes as parameters: 32764 bytes.
  static constexpr int64_t mostWords = 32764 / 8;

  /// How many parts of so many tensors fit beside `shared` other parameters.
  static constexpr int64_t mostParts(int64_t tensors, int64_t shared) {
    TensorTable table{tensors, 1};
    while (table.words() + shared <= mostWords)
      ++table.parts;
    return table.parts - 1;
  }
  /// The table with that room.
  static constexpr TensorTable largest(int64_t tensors, int64_t shared) {
    return {tensors, mostParts(tensors, shared)};
  }

  constexpr int64_t slots() const {
    int64_t slots = 1;
    while (slots < parts)
      slots *= 2;
    return slots;
  }
  constexpr int64_t words() const { return slots() + parts + parts * tensors; }
  static constexpr int64_t firstAt(int64_t part) { return part; }
  constexpr int64_t elementsAt(int64_t part) const { return slots() + part; }
  constexpr int64_t addressAt(int64_t part, int64_t tensor) const {
    return slots() + parts + part * tensors + tensor;
  }
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_TENSORTABLE_H
