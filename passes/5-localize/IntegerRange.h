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
  /// Returns a range that contains all elements of `value`, or nullopt if none
  /// is known. With `component`, covers only the elements with this index in
  /// the last dim. In [[0, x], [1, y]], component 0 has the range 0 to 1.
  std::optional<IntegerRange> of(mlir::Value value,
                                 std::optional<int64_t> component = {});

private:
  std::optional<IntegerRange> compute(mlir::Value value,
                                      std::optional<int64_t> component);
  /// Results of of(), which computes each range once. A key is a tensor and the
  /// index `component` in its last dim, or -1 for all elements.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, std::optional<IntegerRange>>
      known;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_INTEGERRANGE_H
