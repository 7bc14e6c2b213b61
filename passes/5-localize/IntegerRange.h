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
  /// Returns the range of the elements of `value`; nullopt if it is unknown. If
  /// `component` is given, regards only the elements with this index in the
  /// last dim. Examples:
  ///
  ///   iota 0 : 8, plus 2     [2, 9]
  ///   concat of iota 0 : 8 and ids along the last dim, component 0: [0, 7]
  std::optional<IntegerRange> of(mlir::Value value,
                                 std::optional<int64_t> component = {});

private:
  std::optional<IntegerRange> compute(mlir::Value value,
                                      std::optional<int64_t> component);
  /// Results of earlier calls of of(). The key is the value and the component
  /// (an index in the last dim), or -1 without a component.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, std::optional<IntegerRange>>
      known;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_INTEGERRANGE_H
