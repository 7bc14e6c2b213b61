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
  /// Map from the arguments of of() to its result, so that each range is
  /// computed once. The first member of a key is the argument `value`. The
  /// second member is the argument `component`, or -1 if it is not given.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, std::optional<IntegerRange>>
      known;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_INTEGERRANGE_H
