//===- OnlineSoftmax.h - online softmax over tiles of scores --------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H

#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// State of a softmax in one pass over scores that arrive in tiles (Milakov and
/// Gimelshein 2018, arXiv 1805.02867). Each thread holds the state of two rows
/// of scores. Four threads share a row, a quarter of its scores each.
///
///   top     largest score so far, equal in all four threads
///   total   sum of exp(score − top) over this thread's scores so far
struct OnlineSoftmax {
  /// Two values of type f32, one for each of the thread's two rows.
  using Halves = std::array<mlir::Value, 2>;
  /// Number of SSA values of a softmax state: two of `top` (largest score) and
  /// two of `total` (sum of weights).
  static constexpr unsigned size = 4;

  Halves top, total;

  /// Returns the softmax state before the first score. The largest score `top`
  /// is −∞, and the sum of weights `total` is 0.
  static OnlineSoftmax start(KernelWriter &w);
  /// Returns the softmax state that consists of the four SSA values `values`.
  /// The first two values are the largest scores (`top`) of the thread's two
  /// rows. The last two values are the sums of weights (`total`) of the two
  /// rows. flat() returns the values in this order.
  static OnlineSoftmax from(mlir::ValueRange values);
  /// Returns the SSA values of this softmax state as a flat list, which a loop
  /// can carry.
  llvm::SmallVector<mlir::Value> flat() const {
    return {top[0], top[1], total[0], total[1]};
  }

  /// Emits the update of the softmax state by `scores`, the next tile of
  /// scores. The thread holds scores of two rows. `top` is the largest score of
  /// a row so far. The weight of a score is exp(score − `top`). `total` is the
  /// sum of the weights of the thread's scores so far.
  ///
  /// For each of the two rows, sets `top` to the largest score of all tiles so
  /// far, including `scores`. Multiplies `total` by the factor
  /// exp(old `top` − new `top`). Returns the factors of the two rows.
  ///
  /// The caller keeps, for each row, sums of values that are multiplied by
  /// weights. After the update, the caller must do two things:
  ///
  ///   - Multiply these sums by the factor of the row.
  ///   - Add the weights of the scores in `scores` to `total`.
  Halves update(KernelWriter &w, llvm::ArrayRef<WarpProduct::Sums> scores);
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H
