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
  /// Index along a dim, at most the last index of the dim. `index` comes from
  /// another index, the original index. If the original index is larger than
  /// the last index of the dim, `index` is the last index of the dim.
  /// Otherwise, `index` is the original index. Example for a dim of size 100:
  /// `index` is 99 if the original index is 105, and 98 if the original index
  /// is 98.
  Index index;
  /// i1: whether the index before the clamp is smaller than the size of the
  /// dim. Null if the compiler knows that it is smaller.
  mlir::Value isThere;
};

/// Query and key of one attention score that this thread computes.
struct ScorePlace {
  /// Multi-index [batch, head, query] of the score's query.
  MultiIndex query;
  Index key;
  /// i1: whether the score exists. The last tile of keys can extend beyond the
  /// last key, and the last tile of queries beyond the last query. Null if the
  /// compiler knows that the score exists.
  mlir::Value isThere;
};

/// Base class of the emitters of fused attention kernels. Each thread block
/// computes some *rows* of the score matrix, 16 per warp, and loops over all
/// columns, which the class calls *others*. A row belongs to a query, and a
/// column to a key. In the kernel for the gradients of keys and values, the
/// matrix is transposed: a row belongs to a key, and a column to a query. A
/// thread beyond the last row computes the last row again, but does not store
/// it, because all threads of a block must reach each barrier.
class AttentionTile {
public:
  /// Emits code that computes the position of this thread's work: the batch
  /// index, the key head, and the numbers of two queries. In the kernel for the
  /// gradient of keys and values, computes the numbers of two keys instead.
  /// `op` is the attention op or attention gradient op. `block` is the index of
  /// the current block, and `thread` is the index of the thread in its block.
  /// `w` must outlive this object.
  AttentionTile(KernelWriter &w, graph::AttentionOpInterface op,
                const Index &block, const Index &thread);

protected:
  using Values = llvm::SmallVector<mlir::Value>;
  using Left = WarpProduct::Left;
  using Pair = WarpProduct::Pair;
  using Sums = WarpProduct::Sums;
  /// Two SSA values, one for each of this thread's two rows. A row is a query
  /// or a key. Thread t of a warp has rows t / 4 and t / 4 + 8 of the warp's 16
  /// rows.
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

  /// Returns the multi-index [batch, query head, query] of query number `row`.
  /// The numbers count through all query heads that share this block's key
  /// head. Example: with 100 queries per head, number 103 is query 3 of the
  /// second head.
  MultiIndex queryPlace(const Index &row);
  /// Returns the multi-index [batch, key head, key] of a key. The block works
  /// on one batch index and one key head. `key` is the index of the key in this
  /// key head. Example: the block works on batch index 2 and key head 5. If
  /// `key` is 7, the function returns [2, 5, 7].
  MultiIndex keyPlace(const Index &key) const { return {batch, keyHead, key}; }
  /// Emits the largest index of the queries with the numbers `first` to `first`
  /// + `count` − 1, as an i64. The numbers count the queries of all query heads
  /// that share a key head, one head after another. The index is the position
  /// of a query in its query head. Example: with 100 queries per head, the
  /// numbers 98 to 101 have the indices 98, 99, 0 and 1. The largest index is
  /// 99.
  mlir::Value lastQuery(const Index &first, int64_t count);
  /// Emits the number of tiles of keys over which this block loops, as an i64.
  /// Under a causal mask, the block skips the last tiles of keys if no query of
  /// the block may attend to their keys. Only the kernels for attention and for
  /// the gradient of queries may call this function, since only their blocks
  /// loop over keys.
  mlir::Value numSeenTiles();

  /// Emits the load of this warp's 16 rows of `tensor`, such as 16 queries.
  /// Entry i has this thread's elements in columns 8 i to 8 i + 7. Elements
  /// beyond the end of a row are 0.
  std::vector<Left> readRows(mlir::Value tensor);
  /// Allocates a matrix in shared memory. The matrix has `plan.otherTile` rows.
  /// Each row holds one vector, such as a key or a query. `pitch` is the number
  /// of elements from the start of one row to the start of the next row.
  SharedMatrix allocate(int64_t pitch);
  /// Emits the copy of `plan.otherTile` rows of `tensor`, from row `first` on,
  /// to `matrix` in shared memory. Pads with rows of zeros beyond the last row,
  /// and pads each row with zeros to a multiple of 8. All threads of the block
  /// take part. Call syncThreads() before and after this function.
  void fetch(mlir::Value tensor, const Index &first,
             const SharedMatrix &matrix);

  /// Returns the query and the key of one attention score. This thread holds
  /// four scores of a 16 x 8 matrix of scores. `sum` (0 to 3) is the number of
  /// the score among them, in the order of WarpProduct::Sums. The first column
  /// of the matrix belongs to the key with the number `firstOther` + `column`,
  /// and each further column to the next key. In the kernel for the gradients
  /// of keys and values, the columns belong to queries instead.
  ScorePlace scorePlace(const Index &firstOther, int64_t column, int64_t sum);
  /// Emits the attention score of the query and the key in `at`, and its
  /// derivative by their dot product `product`. Applies the scale, then the
  /// softcap, then the masks. The score is −∞ for a hidden key, or if
  /// `at.isThere` is false.
  Score score(mlir::Value product, const ScorePlace &at) {
    return scoreOf(w, op, product, at.query, at.key, at.isThere);
  }
  /// Emits the sum of a number over four threads, for each of two rows. A warp
  /// computes 16 rows. Threads 0 to 3 of the warp share rows 0 and 8, threads 4
  /// to 7 share rows 1 and 9, and so on. `own` has two numbers of this thread,
  /// one for each of its two rows. For each row, adds up the numbers of the
  /// four threads that share the row. All four threads get both sums.
  Halves sumOfRows(const Halves &own);

  /// Emits the stores of this thread's elements of the warp's 16 rows of
  /// `result`. Entry i of `sums` has the elements in columns 8 i to 8 i + 7.
  /// Multiplies the thread's two rows by `factors[0]` and `factors[1]`. Emits
  /// nothing if the kernel does not return `result`.
  void storeRows(mlir::Value result, llvm::ArrayRef<Sums> sums,
                 const Halves &factors, llvm::ArrayRef<mlir::Value> outputs);
  /// Emits the store of `numbers`, one number for each of this thread's two
  /// queries. `result` is an f32 tensor [batch, query head, query]. Only one of
  /// the four threads that share a query stores. Emits nothing if the kernel
  /// does not return `result`.
  void storeNumbers(mlir::Value result, const Halves &numbers,
                    llvm::ArrayRef<mlir::Value> outputs);

  KernelWriter &w;
  graph::AttentionOpInterface op;
  const AttentionPlan plan;
  const WarpProduct product;
  const Index thread;
  const mlir::Type f32, i64;
  /// Batch index, key head and first row number of this block. A row is a key
  /// or a query. Query numbers count through all query heads that share the key
  /// head.
  Index batch, keyHead, firstRow;
  /// Numbers of this thread's two rows (queries or keys). If a row lies beyond
  /// the last row, `index` is the last row, and the i1 `isThere` is false.
  std::array<Bounded, 2> rows;

private:
  /// Emits a branch that runs `body` if the i1 `condition` is true. If
  /// `condition` is null, emits `body` without a branch.
  void doIf(mlir::Value condition, llvm::function_ref<void()> body);
  /// Emits the load of one element of `tensor`. `column` is the index of the
  /// element in the last dim, and `row` has the indices in all other dims.
  /// Example: `row` [1, 2, 3] and `column` 4 give element [1, 2, 3, 4]. If
  /// `column` is beyond the end of the last dim, the emitted value is 0.
  mlir::Value elementAt(mlir::Value tensor, const MultiIndex &row,
                        const Index &column);
  /// Returns the multi-index of a query or a key. This thread computes results
  /// for two queries or two keys. `half` is 0 for the first one, and 1 for the
  /// second one. If `plan.rowsAreKeys` is true, the multi-index is [batch, key
  /// head, key]. Otherwise, the multi-index is [batch, query head, query].
  MultiIndex rowPlace(int64_t half) {
    const Index &row = rows[half].index;
    return plan.rowsAreKeys ? keyPlace(row) : queryPlace(row);
  }
  /// Returns the multi-index of a key or a query over which this block loops:
  /// [batch, key head, key], or [batch, query head, query]. `other` is the
  /// number of the key, or the number of the query among the queries of all
  /// query heads that share one key head.
  MultiIndex otherPlace(const Index &other) {
    return plan.rowsAreKeys ? queryPlace(other) : keyPlace(other);
  }
};

/// Returns the pointer to the memory in which the kernel stores `result`. The
/// list `outputs` has one pointer for each value that the kernel returns. The
/// kernel may return `result` itself, or a transpose or reshape of `result`. If
/// the kernel returns neither `result` nor a transpose or reshape of `result`,
/// the pointer is null.
mlir::Value outputOf(mlir::Value result, llvm::ArrayRef<mlir::Value> outputs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H
