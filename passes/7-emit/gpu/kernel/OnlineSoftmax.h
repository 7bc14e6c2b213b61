//===- OnlineSoftmax.h - softmax of rows that come in tiles ---------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H

#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Of two rows that four lanes hold together: the largest score so far, which
/// all of them know, and this lane's part of the sum of weights (Milakov and
/// Gimelshein, arXiv 1805.02867).
struct OnlineSoftmax {
  using Halves = std::array<mlir::Value, 2>;
  static constexpr unsigned size = 4;

  Halves top, total;

  /// −∞ and 0.
  static OnlineSoftmax start(KernelWriter &w);
  static OnlineSoftmax from(mlir::ValueRange values);
  llvm::SmallVector<mlir::Value> flat() const {
    return {top[0], top[1], total[0], total[1]};
  }

  /// Goes on to `scores`: gives what all that was added up so far is to be
  /// scaled with, the total already is.
  Halves update(KernelWriter &w, llvm::ArrayRef<WarpProduct::Sums> scores);
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H
