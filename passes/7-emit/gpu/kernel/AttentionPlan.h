//===- AttentionPlan.h - how attention is divided over threads ------------===//
//
// A block takes some rows, sixteen for each warp, and goes over the others tile
// by tile: scores never leave its registers. Rows are queries, those of all
// heads that share a key head below one another; for the gradients of keys and
// values they are keys, and the others queries.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONPLAN_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONPLAN_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/rank/RankDialect.h"

namespace pcc::emit {

struct AttentionPlan {
  explicit AttentionPlan(graph::AttentionOpInterface op);

  mlir::Type element;
  int64_t batch, keyHeads, queries, keys;
  /// Query heads of a key head.
  int64_t group;
  /// Elements of a key and of a value.
  int64_t depth, width;
  bool rowsAreKeys;
  int64_t warps = 1;
  /// Of the others, so many lie in shared memory at a time: a power of two from
  /// eight on.
  int64_t otherTile = 8;

  /// Of a key head: row h · queries + s is query s of its h-th head.
  int64_t queryRows() const { return group * queries; }
  int64_t rows() const { return rowsAreKeys ? keys : queryRows(); }
  int64_t others() const { return rowsAreKeys ? queryRows() : keys; }
  int64_t rowTile() const;
  /// Of the rows.
  int64_t tiles() const;
  int64_t blocks() const { return batch * keyHeads * tiles(); }
  int64_t threads() const { return warps * 32; }

  /// Elements from one row of a tile in shared memory to the next, so that the
  /// threads of a warp read from different banks: of tiles whose rows are
  /// columns of a right operand, and of those whose columns are.
  int64_t pitchOfRows(int64_t size) const;
  int64_t pitchOfColumns(int64_t size) const;
};

/// Whether a kernel computes `op` as a whole.
bool isFused(graph::AttentionOp op);

/// What `kernel` computes as a whole; null if it is another kernel.
graph::AttentionOpInterface attentionOf(rank::KernelOp kernel);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_ATTENTIONPLAN_H
