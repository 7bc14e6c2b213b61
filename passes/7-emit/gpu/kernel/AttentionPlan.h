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

/// Sizes of an attention op or its gradient, and the division of its work over
/// a GPU kernel. The thread blocks divide one side of the score matrix, the
/// *rows*. Each block loops over the whole other side, the *others*. The rows
/// are queries and the others are keys, or the reverse if `rowsAreKeys` is
/// true.
struct AttentionPlan {
  /// Plans the fused kernel of `op`, an attention op or an attention gradient
  /// op. graph::fitsFusedKernel(op) must be true.
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
  /// Number of keys in one tile in shared memory. A block of threads loops over
  /// keys and loads one tile of keys at a time. `otherTile` is a power of two
  /// and at least 8. The kernel for the gradient of keys and values loops over
  /// queries instead. For that kernel, `otherTile` is the number of queries in
  /// one tile.
  int64_t otherTile = 8;

  /// Returns the number of queries of all query heads that share one key head.
  /// These queries are numbered from 0, one query head after another. Example:
  /// two query heads with 100 queries each share a key head. The function
  /// returns 200. Query 3 of the second query head has the number 103.
  int64_t queryRows() const { return group * queries; }
  /// Returns the number of keys or queries of one key head that are divided
  /// over the blocks of threads. If `rowsAreKeys` is true, the keys of the key
  /// head are divided. If `rowsAreKeys` is false, the queries of all query
  /// heads that share the key head are divided. Example: two query heads with
  /// 100 queries each share a key head with 80 keys. The function returns 80 if
  /// `rowsAreKeys` is true, and 200 if `rowsAreKeys` is false.
  int64_t rows() const { return rowsAreKeys ? keys : queryRows(); }
  /// Returns the number of keys or queries over which each block of threads
  /// loops. If `rowsAreKeys` is false, each block loops over all keys of one
  /// key head. If `rowsAreKeys` is true, each block loops over all queries of
  /// the query heads that share one key head. Example: two query heads with 100
  /// queries each share a key head with 80 keys. The function returns 80 if
  /// `rowsAreKeys` is false, and 200 if `rowsAreKeys` is true.
  int64_t others() const { return rowsAreKeys ? queryRows() : keys; }
  /// Returns the number of rows (queries or keys) that one block owns: 16 per
  /// warp.
  int64_t rowTile() const;
  /// Returns the number of tiles into which the rows of one key head are
  /// divided. A row is a key if `rowsAreKeys` is true. Otherwise, a row is a
  /// query of a query head that uses the key head. Each block of threads owns
  /// one tile. A tile has rowTile() rows. The last tile can have fewer rows.
  /// Example: 100 rows are divided into 2 tiles if rowTile() is 64.
  int64_t tiles() const;
  /// Returns the number of blocks of the launch.
  int64_t blocks() const { return batch * keyHeads * tiles(); }
  /// Returns the number of threads of a block.
  int64_t threads() const { return warps * 32; }

  /// Returns the number of elements from one row to the next in shared memory,
  /// for rows of `size` elements. Example: 72 for `size` 60. This padding
  /// avoids bank conflicts if WarpProduct::rightFromRows() reads the matrix.
  int64_t pitchOfRows(int64_t size) const;
  /// Returns the number of elements from one row to the next in shared memory,
  /// for rows of `size` elements. Example: 68 (f32) or 72 for `size` 60. This
  /// padding avoids bank conflicts if WarpProduct::rightFromColumns() reads the
  /// matrix.
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
