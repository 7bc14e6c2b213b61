//===- OnlineSoftmax.h - online softmax over tiles of scores --------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H

#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// State of an online softmax (Milakov and Gimelshein 2018, arXiv 1805.02867):
/// a softmax in one pass over scores that arrive in tiles. Each thread holds
/// the state of two rows of scores (WarpProduct.h). Four threads of a warp
/// share a row: each of them holds a quarter of the row's scores.
///
/// Invariant: `top` is the largest score of the row so far, and `total` is the
/// sum of exp(score − top) over those scores that this thread holds. All four
/// threads of a row have the same `top`.
struct OnlineSoftmax {
  /// Two values of type f32, one for each of the thread's two rows.
  using Halves = std::array<mlir::Value, 2>;
  /// Number of SSA values that make up a state: two of `top` and two of
  /// `total`.
  static constexpr unsigned size = 4;

  Halves top, total;

  /// Returns the state before the first tile: `top` is −∞ and `total` is 0.
  static OnlineSoftmax start(KernelWriter &w);
  /// Returns the state that consists of `values`, in the order of flat().
  static OnlineSoftmax from(mlir::ValueRange values);
  /// Returns the SSA values of the state in a fixed order, so that a loop can
  /// carry them.
  llvm::SmallVector<mlir::Value> flat() const {
    return {top[0], top[1], total[0], total[1]};
  }

  /// Emits the update of the state by `scores`, the scores of a tile. Sets
  /// `top` to the new largest score. Multiplies `total` by the factor exp(old
  /// top − new top), and returns this factor for each of the thread's two rows.
  ///
  /// Afterwards the caller must do two things: multiply its sums of weighted
  /// values by the factors, and add the weights exp(score − top) of the tile to
  /// `total`.
  Halves update(KernelWriter &w, llvm::ArrayRef<WarpProduct::Sums> scores);
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ONLINESOFTMAX_H
