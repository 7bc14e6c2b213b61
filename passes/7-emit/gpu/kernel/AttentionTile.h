//===- AttentionTile.h - base class of the fused attention kernels --------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H

#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/gpu/kernel/OnlineSoftmax.h"
#include "passes/7-emit/gpu/kernel/WarpProduct.h"
#include "passes/7-emit/kernel/AttentionScores.h"

namespace pcc::emit {

/// Index that is clamped to the bounds of its dim.
struct Bounded {
  /// Index that is safe to access.
  Index index;
  /// Whether the original index is in bounds, an i1. Null if it always is.
  mlir::Value isThere;
};

/// Query and key of one score.
struct ScorePlace {
  /// Multi-index [batch, head, query].
  MultiIndex query;
  Index key;
  /// Whether the key or query that is not a row of this thread exists, an i1.
  /// Null if it always does.
  mlir::Value isThere;
};

/// Emitter of the steps that the fused attention kernels have in common. A
/// block owns a tile of rows and loops over tiles of others (AttentionPlan.h).
///
/// Each thread has parts of two rows, as in WarpProduct.h: row g and row g + 8
/// of its warp. A tile can reach beyond the last query or key. Indices are then
/// clamped and the surplus elements are masked, so that all threads reach all
/// barriers.
class AttentionTile {
public:
  /// Emits the indices of this thread's rows. `block` and `thread` are the
  /// numbers of the current block, and of the current thread in its block. `w`
  /// is borrowed.
  AttentionTile(KernelWriter &w, graph::AttentionOpInterface op,
                const Index &block, const Index &thread);

protected:
  using Values = llvm::SmallVector<mlir::Value>;
  using Left = WarpProduct::Left;
  using Pair = WarpProduct::Pair;
  using Sums = WarpProduct::Sums;
  /// One value for each of the thread's two rows.
  using Halves = std::array<mlir::Value, 2>;

  /// Returns a + b.
  Index plus(const Index &a, int64_t b) const;
  /// Clamps `index`, which is not negative, to [0, `size`). Emits code only if
  /// the range of `index` exceeds `size`.
  Bounded bounded(const Index &index, int64_t size);
  /// Emits a select. Returns `value` if `condition` is null.
  mlir::Value keptIf(mlir::Value condition, mlir::Value value,
                     mlir::Value otherwise);

  /// Returns the multi-index [batch, head, query] of a row of queries.
  MultiIndex queryPlace(const Index &row);
  /// Returns the multi-index [batch, key head, key] of a key.
  MultiIndex keyPlace(const Index &key) const { return {batch, keyHead, key}; }
  /// Emits the largest query number, an i64, among the rows of queries
  /// [first, first + count). The rows may belong to several heads.
  mlir::Value lastQuery(const Index &first, int64_t count);
  /// Emits the number of tiles of keys, an i64, that this block has to visit.
  /// With a causal mask the later tiles have no key that a query of the block
  /// sees. The rows must be queries.
  mlir::Value numSeenTiles();

  /// Emits the loads of this thread's elements of its two rows of `tensor`: a
  /// left operand.
  std::vector<Left> readRows(mlir::Value tensor);
  /// Allocates shared memory for a tile of `plan.otherTile` rows. `pitch` is
  /// the number of elements from one row to the next.
  SharedMatrix allocate(int64_t pitch);
  /// Emits the copy of a tile of `tensor` (keys, values, queries or gradients)
  /// to shared memory, by all threads of the block. Row n of `matrix` is row
  /// `first` + n of the tensor. Zeros fill rows behind its last row, and extend
  /// rows to a multiple of WarpProduct::depth. The caller must call
  /// syncThreads() before and afterwards.
  void fetch(mlir::Value tensor, const Index &first,
             const SharedMatrix &matrix);

  /// Returns the query and key of one score of this thread: number `sum`, 0 to
  /// 3, of its sums in a warp product. The product is that of the thread's rows
  /// with eight keys (or queries), from number `firstOther` + `column` on.
  ScorePlace scorePlace(const Index &firstOther, int64_t column, int64_t sum);
  /// Emits the score at `at` from `product`, the dot product of its query and
  /// key.
  Score score(mlir::Value product, const ScorePlace &at) {
    return scoreOf(w, op, product, at.query, at.key, at.isThere);
  }
  /// Emits the sums of `own` over the four threads that share a row. Each of
  /// these threads gets the sums.
  Halves sumOfRows(const Halves &own);

  /// Emits the stores of this thread's elements of its two rows of `result`.
  /// The elements are `sums`, with one entry per eight columns, times
  /// `factors`, one per row. `outputs` are the pointers to the kernel's
  /// results. Emits nothing if the kernel does not return `result`.
  void storeRows(mlir::Value result, llvm::ArrayRef<Sums> sums,
                 const Halves &factors, llvm::ArrayRef<mlir::Value> outputs);
  /// Emits the stores of one f32 per row into `result`, [batch, head, row], if
  /// the kernel returns `result`.
  void storeNumbers(mlir::Value result, const Halves &numbers,
                    llvm::ArrayRef<mlir::Value> outputs);

  KernelWriter &w;
  graph::AttentionOpInterface op;
  const AttentionPlan plan;
  const WarpProduct product;
  const Index thread;
  const mlir::Type f32, i64;
  /// Batch entry, key head and first row of the block.
  Index batch, keyHead, firstRow;
  /// The two rows of this thread.
  std::array<Bounded, 2> rows;

private:
  /// Emits `body` under `condition`, or unconditionally if `condition` is null.
  void doIf(mlir::Value condition, llvm::function_ref<void()> body);
  /// Emits the element of a row, in f32; 0 if `column` is behind the end of the
  /// row.
  mlir::Value elementAt(mlir::Value tensor, const MultiIndex &row,
                        const Index &column);
  /// Returns the multi-index of one of this thread's rows. `half` is 0 or 1.
  MultiIndex rowPlace(int64_t half) {
    const Index &row = rows[half].index;
    return plan.rowsAreKeys ? keyPlace(row) : queryPlace(row);
  }
  /// Returns the multi-index of key number `other`, or of query number `other`
  /// if rows are keys.
  MultiIndex otherPlace(const Index &other) {
    return plan.rowsAreKeys ? queryPlace(other) : keyPlace(other);
  }
};

/// Returns the pointer, among the `outputs` of the kernel, to the tensor that
/// holds `result`, possibly after transposes and reshapes. Returns null if the
/// kernel does not return `result`.
mlir::Value outputOf(mlir::Value result, llvm::ArrayRef<mlir::Value> outputs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONTILE_H
