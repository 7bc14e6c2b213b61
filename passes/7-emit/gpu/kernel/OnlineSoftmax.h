//===- OnlineSoftmax.h - online softmax over tiles of scores --------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H

#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// State of one thread in a softmax that is computed in one loop over scores
/// (Milakov and Gimelshein 2018, arXiv 1805.02867). The thread has two rows of
/// the score matrix, and four threads share each row. `top` is the largest
/// score of a row so far. `total` is the sum of exp(score − top) over this
/// thread's scores only.
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
  /// Returns the softmax state with the SSA values `values`, in the order of
  /// flat().
  static OnlineSoftmax from(mlir::ValueRange values);
  /// Returns the SSA values of this softmax state as a flat list, which a loop
  /// can carry.
  llvm::SmallVector<mlir::Value> flat() const {
    return {top[0], top[1], total[0], total[1]};
  }

  /// Emits the update of `top` by the next tile of scores, and rescales `total`
  /// to the new `top`. Returns the factor exp(old top − new top) of each row.
  /// The caller must add the new weights exp(score − top) to `total`, and must
  /// multiply any other sum of old weights by the factor.
  Halves update(KernelWriter &w, llvm::ArrayRef<WarpProduct::Sums> scores);
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H
