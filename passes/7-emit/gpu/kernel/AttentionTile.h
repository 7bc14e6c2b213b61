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
  /// SSA value of type i1. The member `index` is an original index that was
  /// clamped to the bounds of a dim. The i1 is true if the original index is
  /// smaller than the size of the dim. Example for a dim of size 100: if the
  /// original index is 105, `index` is 99 and `isThere` is false. If the
  /// original index is 98, `index` is 98 and `isThere` is true.
  ///
  /// The SSA value is null if the compiler knows that the original index is
  /// smaller than the size of the dim.
  mlir::Value isThere;
};

/// Query and key of one attention score that this thread computes.
struct ScorePlace {
  /// Multi-index [batch, head, query] of the score's query.
  MultiIndex query;
  Index key;
  /// SSA value of type i1: false if the score does not exist. A block of
  /// threads loops over tiles of keys. All tiles have the same size, so that
  /// the last tile can extend beyond the last key. Example: 100 keys are
  /// divided into two tiles of 64 keys. The second tile consists of keys 64 to
  /// 127, but keys 100 to 127 do not exist. A score does not exist if its key
  /// does not exist.
  ///
  /// In the kernel for the gradient of keys and values, a block loops over
  /// tiles of queries. In that kernel, a score does not exist if its query does
  /// not exist.
  ///
  /// The SSA value is null if the compiler knows that the score exists.
  mlir::Value isThere;
};

/// Base class of the classes that emit fused attention kernels. Each block of
/// threads computes the results for some *rows*, and loops over all *others*:
///
///   kernel                           rows      others
///   attention, gradient of queries   queries   keys
///   gradient of keys and values      keys      queries
///
/// Each warp has 16 rows. Thread t of the warp computes elements of rows t / 4
/// and t / 4 + 8, so four threads share each row. The last tile can extend
/// beyond the last query or key. A thread then reads the last query or key and
/// ignores the result, since all threads of a block must reach each barrier.
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
  /// Pair of SSA values for the two rows of this thread. The first SSA value
  /// belongs to the first row, and the second SSA value belongs to the second
  /// row. Example: the pair consists of the sum of the first row and the sum of
  /// the second row.
  ///
  /// A row belongs to a query or a key. Each warp computes 16 rows, and thread
  /// t of the warp computes elements of rows g and g + 8, where g = t / 4.
  /// Example: thread 5 computes elements of rows 1 and 9.
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

  /// Emits code in which a warp loads 16 rows of `tensor`, such as 16 queries,
  /// as the left operand of a matrix product. A row is a vector along the last
  /// dim. Returns the elements that this thread loads. Elements beyond the end
  /// of a row are 0. Entry i has these elements, where g = t / 4 and
  /// c = 2 (t % 4) for thread t of the warp:
  ///
  ///   top      row g       columns 8 i + c and 8 i + c + 1
  ///   bottom   row g + 8   columns 8 i + c and 8 i + c + 1
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

  /// Returns the query and the key of one of the four scores that this thread
  /// computes in a matrix of 16 queries (rows) and 8 keys (columns). Column j
  /// belongs to key `firstOther` + `column` + j. In the kernel for the gradient
  /// of keys and values, the rows are keys and the columns are query numbers.
  /// `sum` selects the score, where g = t / 4 and c = 2 (t % 4) for thread t of
  /// the warp:
  ///
  ///   `sum` 0 and 1   row g       columns c and c + 1
  ///   `sum` 2 and 3   row g + 8   columns c and c + 1
  ScorePlace scorePlace(const Index &firstOther, int64_t column, int64_t sum);
  /// Emits the attention score of the query and the key in `at`. `product` is
  /// the dot product of both. Also returns the derivative of the score by
  /// `product`. `op` gives the scale, the softcap and the masks. The steps have
  /// this order:
  ///
  ///   score = product · scale
  ///   score = softcap · tanh(score / softcap)
  ///   score = score + number of the mask
  ///   score = −∞ if a mask hides the key, or if `at.isThere` is false
  Score score(mlir::Value product, const ScorePlace &at) {
    return scoreOf(w, op, product, at.query, at.key, at.isThere);
  }
  /// Emits the sum of a number over four threads, for each of two rows. A warp
  /// computes 16 rows. Threads 0 to 3 of the warp share rows 0 and 8, threads 4
  /// to 7 share rows 1 and 9, and so on. `own` has two numbers of this thread,
  /// one for each of its two rows. For each row, adds up the numbers of the
  /// four threads that share the row. All four threads get both sums.
  Halves sumOfRows(const Halves &own);

  /// Emits code in which this thread stores elements of 16 rows of `result`.
  /// The code multiplies row g by `factors[0]`, and row g + 8 by `factors[1]`.
  /// Entry i of `sums` has these elements (thread t of the warp: g = t / 4,
  /// c = 2 (t % 4)):
  ///
  ///   elements 0 and 1   row g       columns 8 i + c and 8 i + c + 1
  ///   elements 2 and 3   row g + 8   columns 8 i + c and 8 i + c + 1
  ///
  /// Emits nothing if outputOf() finds no pointer for `result` in `outputs`.
  void storeRows(mlir::Value result, llvm::ArrayRef<Sums> sums,
                 const Halves &factors, llvm::ArrayRef<mlir::Value> outputs);
  /// Emits code in which this thread stores two numbers into `result`. `result`
  /// is a tensor of f32 with the dims [batch, query head, query]. It has one
  /// number for each query. This thread computes results for two queries.
  /// `numbers[0]` belongs to the first query, and `numbers[1]` belongs to the
  /// second query. Four threads have the same two queries and the same two
  /// numbers. Only one of the four threads stores the numbers.
  ///
  /// `outputs` has one pointer for each value that the kernel returns. The
  /// function emits no code if the kernel does not return `result`.
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
