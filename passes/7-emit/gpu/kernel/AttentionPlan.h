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

/// Sizes of one attention op, and its division over blocks and threads.
struct AttentionPlan {
  /// Plans `op`, which fitsFusedKernel() accepts.
  explicit AttentionPlan(graph::AttentionOpInterface op);

  /// Element type of queries, keys and values.
  mlir::Type element;
  /// Size of the batch, number of key heads, and numbers of queries and keys
  /// per head.
  int64_t batch, keyHeads, queries, keys;
  /// Number of query heads that share a key head.
  int64_t group;
  /// Number of elements of a key, and of a value.
  int64_t depth, width;
  /// Whether the rows are keys; otherwise they are queries.
  bool rowsAreKeys;
  /// Number of warps of a block.
  int64_t warps = 1;
  /// Number of keys or queries (the others) in a tile in shared memory: a power
  /// of two, at least 8.
  int64_t otherTile = 8;

  /// Returns the number of queries of one key head, over all its query heads.
  /// Row h · queries + s is query s of the h-th query head of the key head.
  int64_t queryRows() const { return group * queries; }
  /// Returns the number of rows of one key head.
  int64_t rows() const { return rowsAreKeys ? keys : queryRows(); }
  /// Returns the number of keys if rows are queries, and vice versa, of one key
  /// head.
  int64_t others() const { return rowsAreKeys ? queryRows() : keys; }
  /// Returns the number of rows that one block owns.
  int64_t rowTile() const;
  /// Returns the number of tiles of rows of one key head.
  int64_t tiles() const;
  /// Returns the number of blocks of the launch.
  int64_t blocks() const { return batch * keyHeads * tiles(); }
  /// Returns the number of threads of a block.
  int64_t threads() const { return warps * 32; }

  /// Returns the pitch of a tile in shared memory with rows of `size` elements:
  /// the number of elements from one row to the next. The pitch includes
  /// padding, so that the threads of a warp read from different banks. The rows
  /// of the tile are columns of a right operand (WarpProduct::rightFromRows).
  int64_t pitchOfRows(int64_t size) const;
  /// Returns the pitch of a tile whose columns are columns of a right operand
  /// (WarpProduct::rightFromColumns).
  int64_t pitchOfColumns(int64_t size) const;
};

/// Returns whether the fused GPU kernel computes `op`. Otherwise `op` has to be
/// lowered to matmuls and a softmax.
bool isFused(graph::AttentionOp op);

/// Returns the attention or attention gradient that `kernel` computes; null if
/// `kernel` holds none.
graph::AttentionOpInterface attentionOf(rank::KernelOp kernel);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONPLAN_H
