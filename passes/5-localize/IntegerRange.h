//===- IntegerRange.h - range of the elements of an integer tensor --------===//

#ifndef PCC_PASSES_5_LOCALIZE_INTEGERRANGE_H
#define PCC_PASSES_5_LOCALIZE_INTEGERRANGE_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace pcc::localize {

/// Smallest and largest number that an element of an integer tensor may be.
struct IntegerRange {
  int64_t low, high;
};

/// Computes the ranges of integer tensors from the ops that define them
/// (interval analysis). Tensors have global shapes.
class IntegerRanges {
public:
  /// Returns a range that contains all elements of `value`. Returns nullopt if
  /// no range is known. If `component` is given, the range need only contain
  /// the elements with this index in the last dim. Examples, in which x, y and
  /// z are unknown:
  ///
  ///   value                      component   range
  ///   [0, 1, 2, 3] + 2           none        2 to 5
  ///   [[0, x], [1, y], [2, z]]   0           0 to 2
  ///   [[0, x], [1, y], [2, z]]   1           nullopt
  std::optional<IntegerRange> of(mlir::Value value,
                                 std::optional<int64_t> component = {});

private:
  std::optional<IntegerRange> compute(mlir::Value value,
                                      std::optional<int64_t> component);
  /// Map that stores each result of the function of(), so that no range is
  /// computed twice. A range is the smallest and the largest number that an
  /// element may be. A key is a pair:
  ///
  /// - The first member is the tensor `value`.
  /// - The second member is the index `component` in the last dim of this
  ///   tensor. The range covers only the elements with this index. The second
  ///   member is -1 if the range covers all elements.
  ///
  /// The mapped value is the range of these elements, or nullopt if no range is
  /// known.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, std::optional<IntegerRange>>
      known;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_INTEGERRANGE_H
