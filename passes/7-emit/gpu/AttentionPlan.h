//===- AttentionPlan.h - how attention is divided over threads ------------===//
//
// A block takes some queries of all query heads that share a key head, sixteen
// for each warp, and goes over the keys tile by tile (FlashAttention, arXiv
// 2205.14135): scores never leave its registers.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_ATTENTIONPLAN_H
#define PCC_PASSES_7_EMIT_GPU_ATTENTIONPLAN_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/rank/RankDialect.h"

namespace pcc::emit {

struct AttentionPlan {
  explicit AttentionPlan(graph::AttentionOp op);

  mlir::Type element;
  int64_t batch, keyHeads, queries, keys;
  /// Query heads of a key head.
  int64_t group;
  /// Elements of a key and of a value.
  int64_t depth, width;
  int64_t warps = 1;
  /// Keys that lie in shared memory at a time, a power of two from
  /// eight on.
  int64_t keyTile = 8;

  /// Queries of a key head: row h · queries + s is query s of its h-th head.
  int64_t rows() const { return group * queries; }
  int64_t rowTile() const;
  int64_t tiles() const;
  int64_t blocks() const { return batch * keyHeads * tiles(); }
  int64_t threads() const { return warps * 32; }

  /// Elements from one row of a tile of keys or values to the next, so that the
  /// threads of a warp read from different banks.
  int64_t keyPitch() const;
  int64_t valuePitch() const;
};

/// Whether a kernel computes `op` as a whole: for GPUs, of types that they
/// multiply, where a row fits into registers.
bool isFused(graph::AttentionOp op);

/// What `kernel` computes as a whole; null if it is another kernel.
graph::AttentionOp attentionOf(rank::KernelOp kernel);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_ATTENTIONPLAN_H
