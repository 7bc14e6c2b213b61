//===- AttentionTile.h - what the kernels of attention share --------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H

#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/gpu/kernel/OnlineSoftmax.h"
#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "passes/7-emit/kernel/AttentionScores.h"

namespace pcc::emit {

/// An index that is within its dim, and whether it was; null where it is for
/// sure.
struct Bounded {
  Index index;
  mlir::Value isThere;
};

/// A query, by batch, head and number, and a key.
struct ScorePlace {
  MultiIndex query;
  Index key;
  /// Whether the one that is not the thread's own row is there; null where it
  /// is for sure.
  mlir::Value isThere;
};

/// A block's rows, and the others tile by tile. Of the two rows of a thread,
/// number 0 is row g of its warp and number 1 is row g + 8.
class AttentionTile {
public:
  AttentionTile(KernelWriter &w, graph::AttentionOpInterface op,
                const Index &block, const Index &thread);

protected:
  using Values = llvm::SmallVector<mlir::Value>;
  using Left = WarpProduct::Left;
  using Pair = WarpProduct::Pair;
  using Sums = WarpProduct::Sums;
  using Halves = std::array<mlir::Value, 2>;

  Index plus(const Index &a, int64_t b) const;
  Bounded bounded(const Index &index, int64_t size);
  mlir::Value keptIf(mlir::Value condition, mlir::Value value,
                     mlir::Value otherwise);

  /// The place of a query's row in a tensor per query: batch, head, query.
  MultiIndex queryPlace(const Index &row);
  MultiIndex keyPlace(const Index &key) const { return {batch, keyHead, key}; }
  /// The largest query of the rows of queries [first, first + count).
  mlir::Value lastQuery(const Index &first, int64_t count);
  /// How many tiles of keys hold one that a query of this block sees.
  mlir::Value numSeenTiles();

  /// This thread's elements of its two rows in `tensor`.
  std::vector<Left> readRows(mlir::Value tensor);
  /// Room for a tile of the others.
  SharedMatrix allocate(int64_t pitch);
  /// Brings rows of `tensor` to shared memory: for its row n those of other
  /// `first` + n; zeros behind the last.
  void fetch(mlir::Value tensor, const Index &first,
             const SharedMatrix &matrix);

  /// What sum number `sum` of a thread belongs to: of its rows and of the eight
  /// others from `column` on in the tile that begins with `firstOther`.
  ScorePlace scorePlace(const Index &firstOther, int64_t column, int64_t sum);
  Score score(mlir::Value product, const ScorePlace &at) {
    return scoreOf(w, op, product, at.query, at.key, at.isThere);
  }
  /// Of the threads that have a row of sums together, what all of them have.
  Halves sumOfRows(const Halves &own);

  /// Stores sums times `factors` as rows of `result`, if anybody wants it.
  void storeRows(mlir::Value result, llvm::ArrayRef<Sums> sums,
                 const Halves &factors, llvm::ArrayRef<mlir::Value> outputs);
  /// Stores a number per row.
  void storeNumbers(mlir::Value result, const Halves &numbers,
                    llvm::ArrayRef<mlir::Value> outputs);

  KernelWriter &w;
  graph::AttentionOpInterface op;
  const AttentionPlan plan;
  const WarpProduct product;
  const Index thread;
  const mlir::Type f32, i64;
  Index batch, keyHead, firstRow;
  std::array<Bounded, 2> rows;

private:
  /// Always where `condition` is null.
  void doIf(mlir::Value condition, llvm::function_ref<void()> body);
  mlir::Value elementAt(mlir::Value tensor, const MultiIndex &row,
                        const Index &column);
  MultiIndex rowPlace(int64_t half) {
    const Index &row = rows[half].index;
    return plan.rowsAreKeys ? keyPlace(row) : queryPlace(row);
  }
  MultiIndex otherPlace(const Index &other) {
    return plan.rowsAreKeys ? queryPlace(other) : keyPlace(other);
  }
};

/// What takes `result`, behind transposes and reshapes, among the kernel's
/// `outputs`; null where nothing does.
mlir::Value outputOf(mlir::Value result, llvm::ArrayRef<mlir::Value> outputs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H
