//===- StridedView.h - layout ops as offset and strides -------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_STRIDEDVIEW_H
#define PCC_PASSES_7_EMIT_KERNEL_STRIDEDVIEW_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace pcc::emit {

/// Strided view of a dense row-major tensor. The element at multi-index i of
/// the view is element `offset + Σ i[d] · strides[d]` of the tensor. The offset
/// and the strides count elements.
///
/// Transposes, slices and most reshapes are views of their operand. Example: a
/// tensor of shape [4, 12], of which columns 4 to 7 are split into 2 heads of 2
/// columns, and then transposed to heads first:
///
///   slice        offset 4, shape [4, 4],    strides [12, 1]
///   reshape      offset 4, shape [4, 2, 2], strides [12, 2, 1]
///   transpose    offset 4, shape [2, 4, 2], strides [2, 12, 1]
struct StridedView {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> shape, strides;

  /// Returns the view of all elements of a dense tensor of shape `shape`, in
  /// row-major order: offset 0 and row-major strides.
  static StridedView dense(llvm::ArrayRef<int64_t> shape);

  /// Returns this view with its dims in another order: dim i of the result is
  /// dim perm[i] of this view.
  StridedView transposed(llvm::ArrayRef<int64_t> perm) const;
  /// Returns a slice of this view. Index i of the slice along dim d is index
  /// `starts[d] + i · steps[d]` of this view, for i in [0, sizes[d]).
  StridedView sliced(llvm::ArrayRef<int64_t> starts,
                     llvm::ArrayRef<int64_t> sizes,
                     llvm::ArrayRef<int64_t> steps) const;
  /// Returns a view of shape `to` with the elements of this view in unchanged
  /// row-major order. Returns std::nullopt if a dim of `to` joins dims of this
  /// view that are not contiguous, since no strides describe such a view.
  std::optional<StridedView> reshaped(llvm::ArrayRef<int64_t> to) const;

  /// Applies `op` to this view. Returns the result of `op`, as a view of the
  /// same tensor. Returns std::nullopt if `op` is not a transpose, slice or
  /// reshape, or if it is a reshape that no strides describe.
  std::optional<StridedView> through(mlir::Operation *op) const;
};

/// Returns the transposes and reshapes that follow `value`, in execution order.
/// Each of these ops is the only reader of its operand. A value with several
/// readers ends the list.
llvm::SmallVector<mlir::Operation *> layoutOpsAfter(mlir::Value value);

/// Returns where the elements of `value` are in the result of the last of
/// `ops`. `ops` is a chain of transposes, reshapes and element-wise ops that
/// starts at `value`. The returned view has the shape of `value`. Example: if
/// `ops` transposes [2, 3] to [3, 2], the view has the shape [2, 3] and the
/// strides [1, 2].
///
/// Code that computes `value` can store each element at this place. Then none
/// of `ops` has to move elements. Returns std::nullopt if the chain contains a
/// reshape that no strides describe.
std::optional<StridedView> storedView(mlir::Value value,
                                      llvm::ArrayRef<mlir::Operation *> ops);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_STRIDEDVIEW_H
