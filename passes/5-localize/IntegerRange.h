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

/// Finds the ranges of integer tensors from the ops that compute them (interval
/// analysis): of constants, positions, and arithmetic on them. Values have
/// global shapes.
class IntegerRanges {
public:
  /// Returns the range of the elements of `value`; nullopt if it does not
  /// follow from the ops. With `component`, only of the elements with this
  /// index in the last dim.
  ///
  ///   iota 0 : 8, plus 2     [2, 9]
  ///   concat of iota 0 : 8 and ids along the last dim, component 0: [0, 7]
  std::optional<IntegerRange> of(mlir::Value value,
                                 std::optional<int64_t> component = {});

private:
  std::optional<IntegerRange> compute(mlir::Value value,
                                      std::optional<int64_t> component);
  /// Results of `of` by value and component; component -1 stands for none.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, std::optional<IntegerRange>>
      known;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_INTEGERRANGE_H
