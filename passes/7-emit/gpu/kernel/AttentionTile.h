//===- AttentionTile.h - base class of the fused attention kernels --------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H

#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/gpu/kernel/OnlineSoftmax.h"
#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "passes/7-emit/kernel/AttentionScores.h"

namespace pcc::emit {

/// Index that is limited to the bounds of its dim, so that an access is safe.
struct Bounded {
  /// The index, or the last one of the dim if the original index was beyond it.
  Index index;
  /// Whether the original index lies within the dim, an i1. Null if it always
  /// does.
  mlir::Value isThere;
};

/// Query and key of one attention score that this thread holds.
struct ScorePlace {
  /// Multi-index [batch, head, query] of the query.
  MultiIndex query;
  Index key;
  /// An i1: whether the key (if blocks own queries) or the query (if blocks own
  /// keys) exists. False if it is padding at the end of its tile. Null if it
  /// always exists.
  mlir::Value isThere;
};

/// Base class of the fused attention kernels: emits the steps that they have in
/// common. A block owns a tile of rows (queries or keys) and loops over tiles
/// of the others (keys or queries); see AttentionPlan.h.
///
/// Each thread has elements of two rows, as in WarpProduct.h: rows g and g + 8
/// of its warp. A tile can reach beyond the last query or key. Its indices are
/// then clamped and its surplus elements are masked rather than skipped, so
/// that all threads reach all barriers.
class AttentionTile {
public:
  /// Emits the indices of this thread's rows. `block` is the index of the
  /// current block, and `thread` that of the current thread in its block. `w`
  /// must outlive this object.
  AttentionTile(KernelWriter &w, graph::AttentionOpInterface op,
                const Index &block, const Index &thread);

protected:
  using Values = llvm::SmallVector<mlir::Value>;
  using Left = WarpProduct::Left;
  using Pair = WarpProduct::Pair;
  using Sums = WarpProduct::Sums;
  /// Two SSA values, one for each of the thread's two rows.
  using Halves = std::array<mlir::Value, 2>;

  /// Returns the index a + b.
  Index plus(const Index &a, int64_t b) const;
  /// Returns the smaller of `index`, which must not be negative, and `size` -
  /// 1, and whether `index` is below `size`. Emits code only if `index` can be
  /// `size` or more.
  Bounded bounded(const Index &index, int64_t size);
  /// Emits a select: `value` if `condition` is true, else `otherwise`. Returns
  /// `value`, and emits nothing, if `condition` is null.
  mlir::Value keptIf(mlir::Value condition, mlir::Value value,
                     mlir::Value otherwise);

  /// Returns the multi-index [batch, head, query] of row number `row` among the
  /// queries of this key head. The queries of all heads that share the key head
  /// are rows of one matrix.
  MultiIndex queryPlace(const Index &row);
  /// Returns the multi-index [batch, key head, key] of key number `key`.
  MultiIndex keyPlace(const Index &key) const { return {batch, keyHead, key}; }
  /// Emits the largest index of a query within its head, an i64, among the rows
  /// [first, first + count). The rows may belong to several heads.
  mlir::Value lastQuery(const Index &first, int64_t count);
  /// Emits the number of tiles of keys, an i64, over which this block has to
  /// loop. With a causal mask the block leaves out tiles of which its queries
  /// see no key. Only for kernels whose blocks own queries.
  mlir::Value numSeenTiles();

  /// Emits the loads of this thread's elements of its two rows of `tensor`, and
  /// returns them as a left operand of a matrix product.
  std::vector<Left> readRows(mlir::Value tensor);
  /// Allocates shared memory for a tile of `plan.otherTile` rows. `pitch` is
  /// the number of elements from the start of one row to the start of the next.
  SharedMatrix allocate(int64_t pitch);
  /// Emits the copy of a tile of `tensor` (keys, values, queries or gradients)
  /// to shared memory, by all threads of the block together. Row n of `matrix`
  /// gets row `first` + n of the tensor. Rows after the last row of the tensor
  /// become zeros, and zeros extend each row to a multiple of 8 elements. The
  /// caller must call syncThreads() before and afterwards.
  void fetch(mlir::Value tensor, const Index &first,
             const SharedMatrix &matrix);

  /// Returns the query and the key of one of the four scores that this thread
  /// holds of a 16 x 8 matrix product: the score with index `sum`, 0 to 3. The
  /// product is that of the rows of the thread's warp with eight keys (or
  /// queries), which begin at index `firstOther` + `column`.
  ScorePlace scorePlace(const Index &firstOther, int64_t column, int64_t sum);
  /// Emits the score of the query and key `at`. `product` is their dot product.
  Score score(mlir::Value product, const ScorePlace &at) {
    return scoreOf(w, op, product, at.query, at.key, at.isThere);
  }
  /// Emits, for each of the thread's two rows, the sum of `own` over the four
  /// threads that share the row. All four threads get the sum.
  Halves sumOfRows(const Halves &own);

  /// Emits the stores of this thread's elements of its two rows of `result`:
  /// the elements `sums` (eight columns per entry), multiplied by the factor of
  /// their row. `outputs` are the pointers to the kernel's results. Emits
  /// nothing if the kernel does not return `result`.
  void storeRows(mlir::Value result, llvm::ArrayRef<Sums> sums,
                 const Halves &factors, llvm::ArrayRef<mlir::Value> outputs);
  /// Emits the stores of one f32 for each of the thread's two rows into
  /// `result`, [batch, head, row]. `outputs` are the pointers to the kernel's
  /// results. Emits nothing if the kernel does not return `result`.
  void storeNumbers(mlir::Value result, const Halves &numbers,
                    llvm::ArrayRef<mlir::Value> outputs);

  KernelWriter &w;
  graph::AttentionOpInterface op;
  const AttentionPlan plan;
  const WarpProduct product;
  const Index thread;
  const mlir::Type f32, i64;
  /// Batch index, key head and first row of the tile that the block owns.
  Index batch, keyHead, firstRow;
  /// Indices of the two rows of which this thread has elements.
  std::array<Bounded, 2> rows;

private:
  /// Emits `body` such that it runs only if `condition` is true. Null stands
  /// for true.
  void doIf(mlir::Value condition, llvm::function_ref<void()> body);
  /// Emits the load of the element at index `column` of a row of `tensor`, as
  /// an f32. Emits 0 if `column` is beyond the end of the row.
  mlir::Value elementAt(mlir::Value tensor, const MultiIndex &row,
                        const Index &column);
  /// Returns the multi-index of one of this thread's two rows: the first if
  /// `half` is 0, the second if it is 1.
  MultiIndex rowPlace(int64_t half) {
    const Index &row = rows[half].index;
    return plan.rowsAreKeys ? keyPlace(row) : queryPlace(row);
  }
  /// Returns the multi-index of key number `other`. If the block owns keys,
  /// returns that of query row number `other` instead.
  MultiIndex otherPlace(const Index &other) {
    return plan.rowsAreKeys ? queryPlace(other) : keyPlace(other);
  }
};

/// Returns the one of `outputs`, the pointers to the kernel's results, at which
/// `result` is stored. The kernel may return `result` directly or after
/// transposes and reshapes. Returns null if the kernel does not return it.
mlir::Value outputOf(mlir::Value result, llvm::ArrayRef<mlir::Value> outputs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H
