//===- OnlineSoftmax.h - online softmax over tiles of scores --------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H

#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// State of a softmax that is computed in one loop over scores (Milakov and
/// Gimelshein 2018, arXiv 1805.02867). The scores form a matrix. Each row of
/// the matrix has its own softmax. Each iteration of the loop processes some
/// columns of the matrix.
///
/// Four threads share a row. Each of the four threads has a quarter of the
/// row's scores. Each thread has scores of two rows. This struct is the state
/// of one thread. The state has two numbers for each of the thread's two rows:
///
///   top     largest score that the four threads have processed so far
///   total   sum of exp(score − top) over the scores that this thread has
///           processed so far
struct OnlineSoftmax {
  /// Two SSA values of type f32. Each thread has attention scores of two
  /// queries or two keys, called rows. Each of the two SSA values belongs to
  /// one of the two rows.
  using Halves = std::array<mlir::Value, 2>;
  /// Number of SSA values of a softmax state: two of `top` (largest score) and
  /// two of `total` (sum of weights).
  static constexpr unsigned size = 4;

  Halves top, total;

  /// Returns the softmax state before the first score. The largest score `top`
  /// is −∞, and the sum of weights `total` is 0.
  static OnlineSoftmax start(KernelWriter &w);
  /// Returns the softmax state that consists of four SSA values. A softmax
  /// state describes the scores of two rows of a matrix. For each row, `top` is
  /// the largest score, and `total` is the sum of exp(score − `top`). The list
  /// `values` has these numbers in the following order:
  ///
  ///   top of row 0, top of row 1, total of row 0, total of row 1
  ///
  /// flat() returns the numbers in the same order.
  static OnlineSoftmax from(mlir::ValueRange values);
  /// Returns the SSA values of this softmax state as a flat list, which a loop
  /// can carry.
  llvm::SmallVector<mlir::Value> flat() const {
    return {top[0], top[1], total[0], total[1]};
  }

  /// Emits the update of this state by `scores`, the next tile of scores. For
  /// each of the thread's two rows, `top` becomes the largest score so far,
  /// including `scores`. All old weights exp(score − `top`) of a row change by
  /// the factor exp(old `top` − new `top`). Multiplies `total` by this factor.
  /// Returns the factors of the two rows. The caller must add the weights of
  /// the new scores to `total`. The caller must also multiply all other sums of
  /// old weights by the factor, such as the sum of weighted value vectors in
  /// attention.
  Halves update(KernelWriter &w, llvm::ArrayRef<WarpProduct::Sums> scores);
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H
