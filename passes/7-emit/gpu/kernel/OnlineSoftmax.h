//===- OnlineSoftmax.h - online softmax over tiles of scores --------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H

#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// State of an online softmax (Milakov and Gimelshein 2018, arXiv 1805.02867):
/// a softmax in one pass over scores that arrive in tiles. Each thread holds
/// the state of its two rows (WarpProduct.h). Four threads share a row.
///
/// Invariant: `top` is the largest score of the row so far, and `total` this
/// thread's part of Σ exp(score − top). All threads of a row have the same
/// `top`.
struct OnlineSoftmax {
  /// One f32 for each of the thread's two rows.
  using Halves = std::array<mlir::Value, 2>;
  /// Number of values of a state.
  static constexpr unsigned size = 4;

  Halves top, total;

  /// Returns the state before the first tile: top −∞, total 0.
  static OnlineSoftmax start(KernelWriter &w);
  /// Returns the state with the values of flat().
  static OnlineSoftmax from(mlir::ValueRange values);
  /// Returns the values of the state, for instance to carry them through a
  /// loop.
  llvm::SmallVector<mlir::Value> flat() const {
    return {top[0], top[1], total[0], total[1]};
  }

  /// Emits the update of `top` by the scores of a tile, and rescales `total` to
  /// the new top. Returns the factors exp(old top − new top), by which the
  /// caller has to rescale its own sums. The caller also adds the weights of
  /// the tile to `total`.
  Halves update(KernelWriter &w, llvm::ArrayRef<WarpProduct::Sums> scores);
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H
