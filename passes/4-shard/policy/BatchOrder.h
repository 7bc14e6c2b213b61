//===- BatchOrder.h - order in which axes split a batch of several factors ===//

#ifndef PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H
#define PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// The order in which mesh axes may split a batch dim of several factors, such
/// as 8 = 2·2·2. An axis may split a factor only if all factors to its left are
/// completely split: [2@dp|2|2], but not [2|2@dp|2]. If an axis splits two
/// factors, its major sub-axis splits the left one. With `--reproducible`, the
/// samples of a rank then form a subtree of the additions (OrderedSums.h).
class BatchOrder {
public:
  /// Keeps a reference to `graph`, which must outlive this object. `mesh` gives
  /// the number of microbatches.
  BatchOrder(const ShardedGraph &graph, const dist::Mesh &mesh);

  /// Returns whether axes split the batch of `op`, node `index` of the graph,
  /// in the allowed order. Always true if no order is required (`holds`), or if
  /// there are several microbatches and `mb` does not split `op`.
  bool isKept(unsigned index, const ShardedOp &op) const;

private:
  const ShardedGraph &graph;
  /// Whether the order is required: with `--reproducible`, or if ranks cannot
  /// divide the samples of a microbatch evenly.
  bool holds;
  /// The mesh axis `mb`. Its size is the number of microbatches. It is called
  /// the time axis, because a rank computes one microbatch after another.
  dist::Axis time;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H
