//===- AttentionTile.h - base class of the fused attention kernels --------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H

#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/gpu/kernel/OnlineSoftmax.h"
#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "passes/7-emit/kernel/AttentionScores.h"

namespace pcc::emit {

/// Index clamped to the bounds of a dim, so that memory accesses with it are
/// safe.
struct Bounded {
  /// Clamped index: the original index, but at most the last index of the dim.
  Index index;
  /// Whether the original index lies within the dim, an i1. Null if it always
  /// does.
  mlir::Value isThere;
};

/// Query and key of one attention score that this thread computes.
struct ScorePlace {
  /// Multi-index [batch, head, query] of the score's query.
  MultiIndex query;
  Index key;
  /// Whether the score exists, an i1: false if its key or query is padding at
  /// the end of a tile. Null if the score always exists.
  mlir::Value isThere;
};

/// Base class of the fused attention kernels. A block owns a tile of rows and
/// loops over tiles of others. Each thread computes parts of two rows:
///
///   kernel                           rows      others
///   attention, gradient of queries   queries   keys
///   gradient of keys and values      keys      queries
///
/// A tile can extend beyond the last query or key. Threads then read the last
/// existing element and mask the result. All threads thus reach all barriers.
class AttentionTile {
public:
  /// Emits the indices of the two rows (queries or keys) of the current thread.
  /// `thread` is its index in the block, and `block` the index of the block.
  /// `w` must outlive this object.
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
  /// Returns min(index, size − 1), and whether `index` is below `size`. `index`
  /// must not be negative. Emits code only if `index` can be too large.
  Bounded bounded(const Index &index, int64_t size);
  /// Emits a select: `value` if `condition` is true, else `otherwise`. If
  /// `condition` is null, returns `value` and emits nothing.
  mlir::Value keptIf(mlir::Value condition, mlir::Value value,
                     mlir::Value otherwise);

  /// Returns the multi-index [batch, head, query] of query row `row` of this
  /// block's key head. Example with 2 query heads of 100 queries per key head:
  /// row 103 of key head 5 is query 3 of query head 11.
  MultiIndex queryPlace(const Index &row);
  /// Returns the multi-index [batch, key head, key] of key `key` of this
  /// block's key head.
  MultiIndex keyPlace(const Index &key) const { return {batch, keyHead, key}; }
  /// Emits the largest query index among the query rows [first, first + count),
  /// as an i64. Example with 100 queries per head: rows 98 to 101 are queries
  /// 98, 99, 0 and 1; the largest is 99.
  mlir::Value lastQuery(const Index &first, int64_t count);
  /// Emits the number of tiles of keys over which this block loops, an i64.
  /// Leaves out tiles that a causal mask hides from all queries of the block.
  /// The block must own queries.
  mlir::Value numSeenTiles();

  /// Emits the loads of this thread's two rows of `tensor`. Returns them as a
  /// left operand of a matrix product.
  std::vector<Left> readRows(mlir::Value tensor);
  /// Allocates shared memory for a tile of `plan.otherTile` keys or queries,
  /// one per row. `pitch` is the number of elements from one row to the next.
  SharedMatrix allocate(int64_t pitch);
  /// Emits the copy of a tile of `tensor` to shared memory, by all threads of
  /// the block. Row n of `matrix` gets row `first` + n of `tensor`. Rows beyond
  /// the last one become zeros, and zeros extend each row to a multiple of 8
  /// elements.
  ///
  /// The caller must call syncThreads() before and afterwards.
  void fetch(mlir::Value tensor, const Index &first,
             const SharedMatrix &matrix);

  /// Returns the query and the key of one attention score. A warp computes 16 x
  /// 8 scores at once, of which this thread has four. `sum`, 0 to 3, selects
  /// one of the four. Column 0 of the scores belongs to key `firstOther` +
  /// `column`. If blocks own keys, it belongs to the query row with this index
  /// instead.
  ScorePlace scorePlace(const Index &firstOther, int64_t column, int64_t sum);
  /// Emits the attention score of a query and a key: applies scale, softcap and
  /// mask to `product`, their dot product. `at` has the indices of the query
  /// and the key.
  Score score(mlir::Value product, const ScorePlace &at) {
    return scoreOf(w, op, product, at.query, at.key, at.isThere);
  }
  /// Emits, for each of this thread's two rows, the sum of `own` over the four
  /// threads that share the row. All four threads get the sum.
  Halves sumOfRows(const Halves &own);

  /// Emits the stores of this thread's elements of two rows of `result`. Entry
  /// i of `sums` has the elements in columns 8 i to 8 i + 7. Multiplies the
  /// first row by `factors[0]` and the second one by `factors[1]`. Emits
  /// nothing if the kernel does not return `result`.
  void storeRows(mlir::Value result, llvm::ArrayRef<Sums> sums,
                 const Halves &factors, llvm::ArrayRef<mlir::Value> outputs);
  /// Emits the stores of `numbers` into `result`, [batch, head, row]: one f32
  /// for each of this thread's two rows (queries or keys). Emits nothing if the
  /// kernel does not return `result`.
  void storeNumbers(mlir::Value result, const Halves &numbers,
                    llvm::ArrayRef<mlir::Value> outputs);

  KernelWriter &w;
  graph::AttentionOpInterface op;
  const AttentionPlan plan;
  const WarpProduct product;
  const Index thread;
  const mlir::Type f32, i64;
  /// Tile that the block owns: its batch index, its key head, and the index of
  /// its first query (or of its first key in the gradient of keys).
  Index batch, keyHead, firstRow;
  /// Indices of this thread's two rows (queries or keys), clamped to existing
  /// rows.
  std::array<Bounded, 2> rows;

private:
  /// Emits a branch that runs `body` if the i1 `condition` is true. If
  /// `condition` is null, emits `body` without a branch.
  void doIf(mlir::Value condition, llvm::function_ref<void()> body);
  /// Emits the load of one element of `tensor`: element `column` of the row at
  /// multi-index `row`. Emits 0 if the row has no more than `column` elements.
  mlir::Value elementAt(mlir::Value tensor, const MultiIndex &row,
                        const Index &column);
  /// Returns the multi-index of this thread's first row (`half` = 0) or second
  /// row (`half` = 1). Rows are queries or keys.
  MultiIndex rowPlace(int64_t half) {
    const Index &row = rows[half].index;
    return plan.rowsAreKeys ? keyPlace(row) : queryPlace(row);
  }
  /// Returns the multi-index [batch, key head, key] of key `other` of this
  /// block's key head. If blocks own keys, returns the multi-index [batch,
  /// head, query] of query row `other` instead.
  MultiIndex otherPlace(const Index &other) {
    return plan.rowsAreKeys ? queryPlace(other) : keyPlace(other);
  }
};

/// Returns the pointer to which the kernel stores `result`: one of `outputs`,
/// the pointers to the kernel's results. The kernel may return a transpose or
/// reshape of `result` instead of `result` itself. Returns null if it returns
/// neither.
mlir::Value outputOf(mlir::Value result, llvm::ArrayRef<mlir::Value> outputs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H
