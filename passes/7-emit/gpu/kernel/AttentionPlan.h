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

/// Sizes of an attention op or of its gradient, and the division of the work
/// over the blocks and threads of a GPU kernel. The scores form a matrix, whose
/// columns are called *others*:
///
///   op                               rows      others
///   attention, gradient of queries   queries   keys
///   gradient of keys and values      keys      queries
///
/// The blocks divide the rows, and each block loops over all others. Example:
/// with 256 queries and 100 keys, each of 4 blocks owns 64 queries and loops
/// over 100 keys.
struct AttentionPlan {
  /// Chooses how the blocks and threads of a GPU kernel divide the work of
  /// `op`. `op` is an attention op or the gradient of an attention op. One GPU
  /// kernel computes all of `op`, as in FlashAttention. Some ops do not satisfy
  /// the conditions of this kernel. Example: each query may have at most 128
  /// elements. graph::fitsFusedKernel(op) returns whether `op` satisfies all
  /// conditions. The caller must only pass an op for which
  /// graph::fitsFusedKernel(op) is true.
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

  /// Returns the pitch of a matrix in shared memory. The pitch is the number of
  /// elements from the start of one row to the start of the next row. `size` is
  /// the number of elements of a row. The pitch is `size`, rounded up to a
  /// multiple of 8, plus 8 unused elements. Example: for `size` 60, the pitch
  /// is 64 + 8 = 72. The unused elements shift the next row, so that the
  /// threads of a warp read from different memory banks at the same time.
  ///
  /// Call this function for a matrix that WarpProduct::rightFromRows() reads.
  /// rightFromRows() loads the right operand of a matrix product. Each column
  /// of the right operand comes from a row of the matrix in shared memory.
  int64_t pitchOfRows(int64_t size) const;
  /// Returns the pitch of a matrix in shared memory: the number of elements
  /// from the start of one row to the start of the next row. Call this function
  /// for a matrix that WarpProduct::rightFromColumns() reads. `size` is the
  /// number of elements of a row. The pitch is `size`, rounded up to a multiple
  /// of 8, plus 4 elements for f32 or 8 elements for bf16 and f16. Example: for
  /// `size` 60, the pitch is 68 or 72. Due to the added elements, the threads
  /// of a warp read from different memory banks at the same time.
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
