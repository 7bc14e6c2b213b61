//===- StridedView.h - layout ops as offset and strides -------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_STRIDEDVIEW_H
#define PCC_PASSES_7_EMIT_KERNEL_STRIDEDVIEW_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace pcc::emit {

/// View of a dense row-major tensor in memory, like a strided memref. Element
/// [i, j] is at position `offset + i · strides[0] + j · strides[1]` in the
/// tensor. Example: columns 4 to 7 of a matrix with 12 columns have the offset
/// 4 and the strides [12, 1].
struct StridedView {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> shape, strides;

  /// Returns the view of all elements of a dense tensor: offset 0 and row-major
  /// strides.
  static StridedView dense(llvm::ArrayRef<int64_t> shape);

  /// Returns this view transposed: dim i of the result is dim perm[i] of this
  /// view.
  StridedView transposed(llvm::ArrayRef<int64_t> perm) const;
  /// Returns a slice of this view with `sizes[d]` elements along dim d. Index i
  /// of the slice is index `starts[d] + i · steps[d]` of this view.
  StridedView sliced(llvm::ArrayRef<int64_t> starts,
                     llvm::ArrayRef<int64_t> sizes,
                     llvm::ArrayRef<int64_t> steps) const;
  /// Returns this view reshaped to `to`. Returns std::nullopt if `to` joins
  /// dims of this view that are not contiguous in memory. Example: shape [4, 2]
  /// with strides [12, 1] cannot become [8].
  std::optional<StridedView> reshaped(llvm::ArrayRef<int64_t> to) const;

  /// Applies `op` to this view, and returns the result as a view of the same
  /// tensor. Returns std::nullopt in two cases:
  ///
  ///   - `op` is no transpose, slice or reshape.
  ///   - `op` is a reshape that joins dims which are not contiguous in memory.
  std::optional<StridedView> through(mlir::Operation *op) const;
};

/// Returns the chain of transposes and reshapes that begins at `value`, in
/// execution order. Each op is the only use of the value that it reads.
llvm::SmallVector<mlir::Operation *> layoutOpsAfter(mlir::Value value);

/// Returns the places where the result of `ops` stores the elements of `value`,
/// as a view of this result with the shape of `value`. `ops` is a chain of
/// transposes, reshapes and element-wise ops that begins at `value`. For
/// example, if `ops` transposes [2, 3] to [3, 2], the view has the offset 0 and
/// the strides [1, 2]. Returns std::nullopt if strides cannot describe the
/// places.
std::optional<StridedView> storedView(mlir::Value value,
                                      llvm::ArrayRef<mlir::Operation *> ops);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_STRIDEDVIEW_H
