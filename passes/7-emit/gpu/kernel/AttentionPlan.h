//===- AttentionPlan.h - division of fused attention over GPU threads -----===//
//
// The fused kernels follow FlashAttention (Dao et al. 2022). The scores are a
// matrix with queries on one side and keys on the other. One side is called the
// *rows*: each block of threads owns a tile of rows, sixteen per warp. The
// other side is called the *others*: the block loops over all of them, loading
// one tile at a time into shared memory. Scores stay in registers.
//
//   kernel                           rows      others
//   attention, gradient of queries   queries   keys
//   gradient of keys and values      keys      queries
//
// With grouped-query attention, the queries of all heads that share a key head
// are rows (or others) of one matrix.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONPLAN_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONPLAN_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/rank/RankDialect.h"

namespace pcc::emit {

/// Sizes of one attention op, and division of its work over blocks and threads.
/// Each block owns a tile of *rows* and loops over all *others*:
///
///   op                               rows      others
///   attention, gradient of queries   queries   keys
///   gradient of keys and values      keys      queries
struct AttentionPlan {
  /// Plans `op`, which the fused kernels must support (fitsFusedKernel).
  explicit AttentionPlan(graph::AttentionOpInterface op);

  /// Element type of queries, keys and values.
  mlir::Type element;
  /// Sizes of the attention op. `queries` and `keys` are counted per head.
  int64_t batch, keyHeads, queries, keys;
  /// Number of query heads that share a key head: 1 unless `op` is
  /// grouped-query attention.
  int64_t group;
  /// `depth` is the number of elements of a query or a key. `width` is the
  /// number of elements of a value.
  int64_t depth, width;
  /// Whether each block owns a tile of keys and loops over queries. If false,
  /// it owns a tile of queries and loops over keys.
  bool rowsAreKeys;
  /// Number of warps of a block.
  int64_t warps = 1;
  /// Number of keys in one tile in shared memory: a power of two, at least 8.
  /// If `rowsAreKeys` is true, tiles consist of queries instead.
  int64_t otherTile = 8;

  /// Returns the number of queries of all query heads that share one key head.
  /// Their queries are the rows of one matrix, head by head. Example with 2
  /// query heads of 100 queries: row 103 is query 3 of the second head.
  int64_t queryRows() const { return group * queries; }
  /// Returns the number of rows per key head, which are divided over blocks. If
  /// `rowsAreKeys` is true, rows are the keys of the head. Otherwise they are
  /// the queries of all query heads that share this key head.
  int64_t rows() const { return rowsAreKeys ? keys : queryRows(); }
  /// Returns the number of keys over which each block loops: all keys of one
  /// key head. If `rowsAreKeys` is true, blocks loop over queries instead:
  /// those of all query heads that share a key head.
  int64_t others() const { return rowsAreKeys ? queryRows() : keys; }
  /// Returns the number of rows (queries or keys) that one block owns: 16 per
  /// warp.
  int64_t rowTile() const;
  /// Returns the number of tiles per key head. Each block owns one tile: a
  /// group of queries or, if `rowsAreKeys` is true, of keys.
  int64_t tiles() const;
  /// Returns the number of blocks of the launch.
  int64_t blocks() const { return batch * keyHeads * tiles(); }
  /// Returns the number of threads of a block.
  int64_t threads() const { return warps * 32; }

  /// Returns the pitch of a tile in shared memory: the number of elements from
  /// one row to the next. A row has `size` elements, plus padding against bank
  /// conflicts. Use it for tiles that WarpProduct::rightFromRows() reads.
  int64_t pitchOfRows(int64_t size) const;
  /// Returns the number of elements from one row of a tile in shared memory to
  /// the next. A row has `size` elements, plus padding against bank conflicts.
  /// Use it for tiles that WarpProduct::rightFromColumns() reads.
  int64_t pitchOfColumns(int64_t size) const;
};

/// Returns whether the fused GPU kernel computes `op`. Other attention ops
/// become matmuls and a softmax.
bool isFused(graph::AttentionOp op);

/// Returns the attention op, or attention gradient op, in `kernel`; null if
/// there is none.
graph::AttentionOpInterface attentionOf(rank::KernelOp kernel);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONPLAN_H
