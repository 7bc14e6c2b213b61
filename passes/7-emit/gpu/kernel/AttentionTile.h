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

/// Base class of the classes that emit fused attention kernels. Each block of
/// threads computes the results for some *rows*. The block loops over all
/// *others*:
///
///   kernel                           rows      others
///   attention, gradient of queries   queries   keys
///   gradient of keys and values      keys      queries
///
/// Each warp of the block has 16 rows. Thread t of the warp computes elements
/// of rows t / 4 and t / 4 + 8. Four threads thus share each row. Example:
/// threads 4 to 7 share rows 1 and 9.
///
/// A block processes rows and others in tiles of fixed size. The last tile can
/// have fewer queries or keys than this size. A thread does not skip the
/// missing queries or keys, since all threads of a block must reach each
/// barrier. The thread reads the last existing query or key instead, and does
/// not use the result.
class AttentionTile {
public:
  /// Emits the computation of two numbers: the numbers of the rows for which
  /// the current thread computes results. A row is a query, or a key in the
  /// kernel for the gradient of keys and values. The parameters are:
  ///
  ///   w        writer of the kernel, which must outlive this object
  ///   op       attention op or attention gradient op that the kernel computes
  ///   block    index of the current block
  ///   thread   index of the current thread in its block
  AttentionTile(KernelWriter &w, graph::AttentionOpInterface op,
                const Index &block, const Index &thread);

protected:
  using Values = llvm::SmallVector<mlir::Value>;
  using Left = WarpProduct::Left;
  using Pair = WarpProduct::Pair;
  using Sums = WarpProduct::Sums;
  /// Two SSA values. Each thread computes elements of two rows, and each row
  /// has one of the SSA values. A row belongs to a query or a key. Example:
  /// thread 5 of a warp computes elements of rows 1 and 9 of the warp's 16
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

  /// Returns the multi-index [batch, query head, query] of a query. The block
  /// works on one batch index and one key head. One or more query heads share
  /// the key head. The queries of these query heads are numbered from 0, one
  /// head after another. `row` is the number of a query.
  ///
  /// Example: each key head has 2 query heads, and each query head has 100
  /// queries. The block works on key head 5, which query heads 10 and 11 share.
  /// Number 103 is query 3 of query head 11.
  MultiIndex queryPlace(const Index &row);
  /// Returns the multi-index [batch, key head, key] of key `key` of this
  /// block's key head.
  MultiIndex keyPlace(const Index &key) const { return {batch, keyHead, key}; }
  /// Emits the largest index of a query in a range of queries, as an i64. The
  /// index of a query is counted within its query head. The range has `count`
  /// queries from number `first` on. The queries of all query heads that share
  /// a key head are numbered from 0, one head after another.
  ///
  /// Example with 100 queries per query head: numbers 98 and 99 are queries 98
  /// and 99 of the first head. Numbers 100 and 101 are queries 0 and 1 of the
  /// second head. For the range from 98 to 101, the result is 99.
  mlir::Value lastQuery(const Index &first, int64_t count);
  /// Emits the number of tiles of keys over which this block loops, as an i64.
  /// Under a causal mask, the block skips the last tiles of keys if no query of
  /// the block may attend to their keys. Only the kernels for attention and for
  /// the gradient of queries may call this function, since only their blocks
  /// loop over keys.
  mlir::Value numSeenTiles();

  /// Emits code in which a warp loads 16 rows of `tensor`. A row is a vector
  /// along the last dim, such as one query or one key. The 16 rows are the left
  /// operand of a matrix product.
  ///
  /// Returns the elements that this thread loads. Thread t of the warp loads
  /// elements of rows t / 4 and t / 4 + 8 of the 16 rows. Example: thread 5
  /// loads elements of rows 1 and 9. Entry i of the result has elements in
  /// columns 8 i to 8 i + 7: two elements of each row. Elements beyond the end
  /// of a row are 0.
  std::vector<Left> readRows(mlir::Value tensor);
  /// Allocates a matrix in shared memory. The matrix has `plan.otherTile` rows.
  /// Each row holds one vector, such as a key or a query. `pitch` is the number
  /// of elements from the start of one row to the start of the next row.
  SharedMatrix allocate(int64_t pitch);
  /// Emits code in which all threads of the block copy rows of `tensor` to
  /// `matrix` in shared memory. A row of `tensor` is one vector, such as a key
  /// or a query. Row 0 is the first key or query of the block's key head. The
  /// code copies `plan.otherTile` rows, from row `first` of `tensor` on.
  /// Example: if `first` is 64, row 3 of `matrix` gets row 67 of `tensor`.
  ///
  /// If the key head has no more keys or queries, the remaining rows of
  /// `matrix` become 0. If the size of a row is no multiple of 8, elements with
  /// value 0 are appended to the row, up to the next multiple of 8.
  ///
  /// The caller must call syncThreads() before and afterwards.
  void fetch(mlir::Value tensor, const Index &first,
             const SharedMatrix &matrix);

  /// Returns the query and the key of one attention score. A warp computes a
  /// matrix of scores at once, with 16 rows and 8 columns. Each row belongs to
  /// a query, and each column belongs to a key. Column 0 belongs to key
  /// `firstOther` + `column`. This thread computes four of the scores, in two
  /// rows and two columns. `sum` is the number of a score: 0 and 1 are in the
  /// first row, 2 and 3 in the second row.
  ///
  /// In the kernel for the gradient of keys and values, each row belongs to a
  /// key, and each column to a query. Column 0 belongs to query number
  /// `firstOther` + `column`. The queries of all query heads that share a key
  /// head are numbered from 0, one head after another.
  ScorePlace scorePlace(const Index &firstOther, int64_t column, int64_t sum);
  /// Emits the attention score of a query and a key: applies scale, softcap and
  /// mask to `product`, their dot product. `at` has the indices of the query
  /// and the key.
  Score score(mlir::Value product, const ScorePlace &at) {
    return scoreOf(w, op, product, at.query, at.key, at.isThere);
  }
  /// Emits the sum of a number over four threads, for each of two rows. A warp
  /// computes 16 rows. Threads 0 to 3 of the warp share rows 0 and 8, threads 4
  /// to 7 share rows 1 and 9, and so on. `own` has two numbers of this thread,
  /// one for each of its two rows. For each row, adds up the numbers of the
  /// four threads that share the row. All four threads get both sums.
  Halves sumOfRows(const Halves &own);

  /// Emits code in which this thread stores its elements of `result`. A warp
  /// stores 16 rows of `result`, one for each query or key. Thread t of the
  /// warp stores elements of rows t / 4 and t / 4 + 8. Example: thread 5 stores
  /// elements of rows 1 and 9. Entry i of `sums` has four elements of this
  /// thread in columns 8 i to 8 i + 7. The first two elements are in the first
  /// row, and the last two elements are in the second row.
  ///
  /// The emitted code multiplies the elements of the first row by `factors[0]`,
  /// and the elements of the second row by `factors[1]`. `outputs` has one
  /// pointer for each value that the kernel returns. Emits nothing if the
  /// kernel does not return `result`.
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
  /// Position of the rows that this block owns. The rows are queries, or keys
  /// in the kernel for the gradient of keys and values. The rows belong to
  /// batch index `batch` and to key head `keyHead`. `firstRow` is the number of
  /// the first row.
  ///
  /// Keys are numbered from 0 in each key head. Queries are numbered from 0
  /// over all query heads that share the key head, one query head after
  /// another.
  Index batch, keyHead, firstRow;
  /// Numbers of the two rows for which this thread computes results. A row is a
  /// query or a key. `rows[0].index` is the number of the first row, and
  /// `rows[1].index` is the number of the second row.
  ///
  /// A tile can extend beyond the last query or key. The number of a row would
  /// then be too large. In this case, `index` is the number of the last query
  /// or key, and the i1 `isThere` is false.
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
  /// Returns the multi-index of one of the keys or queries over which this
  /// block loops. The block works on one batch index and one key head. There
  /// are two cases:
  ///
  ///   - The block loops over keys. `other` is the index of a key in the key
  ///     head. Returns [batch, key head, key].
  ///   - The block loops over queries. `other` is the number of a query. The
  ///     queries of all query heads that share the key head are numbered from
  ///     0, one head after another. Returns [batch, query head, query].
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
