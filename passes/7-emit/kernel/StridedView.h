//===- StridedView.h - a dense tensor, seen in another order --------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_STRIDEDVIEW_H
#define PCC_PASSES_7_EMIT_KERNEL_STRIDEDVIEW_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace pcc::emit {

/// A tensor whose element i is element `offset + Σ i[d] · strides[d]` of a
/// dense one: what layout ops are where no bytes move.
///
///   part 2 of 3 of [4, 12]   offset 4, shape [4, 4],    strides [12, 1]
///   … cut into 2 heads       offset 4, shape [4, 2, 2], strides [12, 2, 1]
///   … heads first            offset 4, shape [2, 4, 2], strides [2, 12, 1]
struct StridedView {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> shape, strides;

  static StridedView dense(llvm::ArrayRef<int64_t> shape);

  StridedView transposed(llvm::ArrayRef<int64_t> perm) const;
  StridedView sliced(llvm::ArrayRef<int64_t> starts,
                     llvm::ArrayRef<int64_t> sizes,
                     llvm::ArrayRef<int64_t> steps) const;
  /// None where dims would have to be joined that do not run on.
  std::optional<StridedView> reshaped(llvm::ArrayRef<int64_t> to) const;

  /// The result of a graph op on this view; none where the op computes or no
  /// strides say what it does.
  std::optional<StridedView> through(mlir::Operation *op) const;
};

/// The transposes and reshapes, each the only reader of the one before, that
/// `value` goes through.
llvm::SmallVector<mlir::Operation *> layoutOpsAfter(mlir::Value value);

/// `value` as elements of what the last of `ops` makes of it: transposes and
/// reshapes, and others that change no place. None where no strides say so.
std::optional<StridedView> storedView(mlir::Value value,
                                      llvm::ArrayRef<mlir::Operation *> ops);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_STRIDEDVIEW_H
