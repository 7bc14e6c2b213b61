//===- StridedView.h - layout ops as offset and strides -------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_STRIDEDVIEW_H
#define PCC_PASSES_7_EMIT_KERNEL_STRIDEDVIEW_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace pcc::emit {

/// Strided view of a dense row-major tensor. Element i of the view is element
/// `offset + Σ i[d] · strides[d]` of the tensor; offset and strides count
/// elements. Transposes, slices and most reshapes are views of their operand:
///
///   part 2 of 3 of [4, 12]   offset 4, shape [4, 4],    strides [12, 1]
///   … cut into 2 heads       offset 4, shape [4, 2, 2], strides [12, 2, 1]
///   … heads first            offset 4, shape [2, 4, 2], strides [2, 12, 1]
struct StridedView {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> shape, strides;

  /// Returns the view of all elements of a dense tensor in their order.
  static StridedView dense(llvm::ArrayRef<int64_t> shape);

  /// Returns the view whose dim i is dim perm[i] of this view.
  StridedView transposed(llvm::ArrayRef<int64_t> perm) const;
  /// Returns the view of `sizes[d]` elements along each dim d: the elements
  /// `starts[d] + i · steps[d]` of this view.
  StridedView sliced(llvm::ArrayRef<int64_t> starts,
                     llvm::ArrayRef<int64_t> sizes,
                     llvm::ArrayRef<int64_t> steps) const;
  /// Returns the view of shape `to` with the elements of this view in the same
  /// row-major order. Returns std::nullopt if a dim of `to` would join dims of
  /// this view that one stride cannot cover.
  std::optional<StridedView> reshaped(llvm::ArrayRef<int64_t> to) const;

  /// Returns the result of `op` as a view of the same tensor, where this view
  /// is the operand of `op`. Returns std::nullopt if `op` is not a transpose,
  /// slice or reshape, or if a reshape has no strides.
  std::optional<StridedView> through(mlir::Operation *op) const;
};

/// Returns the chain of transposes and reshapes that starts at `value`, in
/// execution order. Each op of the chain is the only user of its operand.
llvm::SmallVector<mlir::Operation *> layoutOpsAfter(mlir::Value value);

/// Returns a view with the shape of `value` into the result of the last op of
/// `ops`: the place at which each element of `value` has to be stored so that
/// none of `ops` needs to move it. `ops` is a chain that starts at `value`. Ops
/// of the chain that are not transposes or reshapes must be element-wise.
/// Returns std::nullopt if a reshape has no strides.
std::optional<StridedView> storedView(mlir::Value value,
                                      llvm::ArrayRef<mlir::Operation *> ops);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_STRIDEDVIEW_H
