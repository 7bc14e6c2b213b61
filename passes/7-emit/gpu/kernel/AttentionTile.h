//===- AttentionTile.h - base class of the fused attention kernels --------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H

#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/gpu/kernel/OnlineSoftmax.h"
#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "passes/7-emit/kernel/AttentionScores.h"

namespace pcc::emit {

/// Index that is clamped to the bounds of a dim, so that a memory access with
/// it is safe.
struct Bounded {
  /// The clamped index: the original index, or the last index of the dim if the
  /// original index is larger.
  Index index;
  /// Whether the original index lies within the dim, an i1 value. Null if the
  /// original index always lies within the dim.
  mlir::Value isThere;
};

/// Position, in the matrix of attention scores, of one score that this thread
/// computes: its query and its key.
struct ScorePlace {
  /// Multi-index [batch, head, query] of the query.
  MultiIndex query;
  Index key;
  /// Whether the score exists, an i1. It does not exist if its key or query is
  /// padding at the end of a tile. Null if the score always exists.
  mlir::Value isThere;
};

/// Base class of the fused attention kernels: emits the steps that all of these
/// kernels need. A block owns a tile of rows and loops over tiles of the
/// others. If rows are queries, others are keys, and vice versa
/// (AttentionPlan.h). Each thread has elements of two rows, as in
/// WarpProduct.h.
///
/// A tile can extend beyond the last query or key. A thread with such an index
/// reads the last existing element instead, and masks the result. It does not
/// skip the code, so that all threads reach all barriers.
class AttentionTile {
public:
  /// Emits the indices of the two rows (queries or keys) of which this thread
  /// computes elements. `block` is the index of the current block, and `thread`
  /// that of the current thread in its block. `w` must outlive this object.
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
  /// Clamps `index` to a dim of `size` elements: returns min(index, size - 1),
  /// and whether `index` is below `size`. `index` must not be negative. Emits
  /// code only if `index` can be `size` or more.
  Bounded bounded(const Index &index, int64_t size);
  /// Emits a select: `value` if `condition` is true, else `otherwise`. Returns
  /// `value`, and emits nothing, if `condition` is null.
  mlir::Value keptIf(mlir::Value condition, mlir::Value value,
                     mlir::Value otherwise);

  /// Returns the multi-index [batch, head, query] of query row number `row` of
  /// this block's key head. Example with 2 query heads of 100 queries per key
  /// head: row 103 of key head 5 is query 3 of query head 11.
  MultiIndex queryPlace(const Index &row);
  /// Returns the multi-index [batch, key head, key] of key number `key` of this
  /// block's key head.
  MultiIndex keyPlace(const Index &key) const { return {batch, keyHead, key}; }
  /// Emits the largest query index among the query rows [first, first + count),
  /// as an i64. Query indices count within a head. Example with 100 queries per
  /// head: rows 98 to 103 are queries 98, 99, 0, 1, 2, 3; the largest is 99.
  mlir::Value lastQuery(const Index &first, int64_t count);
  /// Emits the number of tiles of keys, an i64, over which this block has to
  /// loop. With a causal mask, the block leaves out tiles whose keys are masked
  /// for all of its queries. Only for kernels whose blocks own queries.
  mlir::Value numSeenTiles();

  /// Emits the loads of the elements of `tensor` in this thread's two rows.
  /// Returns the elements as a left operand of a matrix product.
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
  /// holds of a 16 x 8 product. The 16 rows of the product are rows of this
  /// warp. Its 8 columns are the others (keys or queries) from index
  /// `firstOther` + `column` on. `sum`, 0 to 3, is the number of the score
  /// (WarpProduct::Sums).
  ScorePlace scorePlace(const Index &firstOther, int64_t column, int64_t sum);
  /// Emits the attention score of the query and the key of `at`. `product` is
  /// their dot product.
  Score score(mlir::Value product, const ScorePlace &at) {
    return scoreOf(w, op, product, at.query, at.key, at.isThere);
  }
  /// Emits the sum over the four threads that share a row, for each of this
  /// thread's two rows. `own` holds the thread's addends. All four threads get
  /// the sum.
  Halves sumOfRows(const Halves &own);

  /// Emits the stores of this thread's two rows of `result`. `sums` has the
  /// elements, eight columns per entry. Each element is multiplied by the
  /// factor of its row, an entry of `factors`. `outputs` are the pointers to
  /// the kernel's results. Emits nothing if the kernel does not return
  /// `result`.
  void storeRows(mlir::Value result, llvm::ArrayRef<Sums> sums,
                 const Halves &factors, llvm::ArrayRef<mlir::Value> outputs);
  /// Emits the stores of `numbers`, one f32 for each of the thread's two rows,
  /// into `result`, [batch, head, row]. `outputs` are the pointers to the
  /// kernel's results. Emits nothing if the kernel does not return `result`.
  void storeNumbers(mlir::Value result, const Halves &numbers,
                    llvm::ArrayRef<mlir::Value> outputs);

  KernelWriter &w;
  graph::AttentionOpInterface op;
  const AttentionPlan plan;
  const WarpProduct product;
  const Index thread;
  const mlir::Type f32, i64;
  /// Batch index, key head and first row (query or key) of the tile that the
  /// current block owns.
  Index batch, keyHead, firstRow;
  /// Indices of the two rows (queries or keys) of which this thread computes
  /// elements, clamped to existing rows.
  std::array<Bounded, 2> rows;

private:
  /// Emits `body`, guarded by `condition`: it runs only if `condition` is true.
  /// If `condition` is null, `body` always runs.
  void doIf(mlir::Value condition, llvm::function_ref<void()> body);
  /// Emits the load of the element at index `column` of a row of `tensor`, as
  /// an f32. Emits 0 if `column` is beyond the end of the row.
  mlir::Value elementAt(mlir::Value tensor, const MultiIndex &row,
                        const Index &column);
  /// Returns the multi-index of the query or key that is one of this thread's
  /// two rows: the first row if `half` is 0, the second one if it is 1.
  MultiIndex rowPlace(int64_t half) {
    const Index &row = rows[half].index;
    return plan.rowsAreKeys ? keyPlace(row) : queryPlace(row);
  }
  /// Returns the multi-index of key number `other` if blocks own queries. If
  /// blocks own keys, returns the multi-index of query row number `other`.
  MultiIndex otherPlace(const Index &other) {
    return plan.rowsAreKeys ? queryPlace(other) : keyPlace(other);
  }
};

/// Returns the entry of `outputs` to which the kernel stores `result`.
/// `outputs` are the pointers to the kernel's results. The kernel may return
/// `result` itself, or a transpose or reshape of it. Returns null if it returns
/// neither.
mlir::Value outputOf(mlir::Value result, llvm::ArrayRef<mlir::Value> outputs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H
