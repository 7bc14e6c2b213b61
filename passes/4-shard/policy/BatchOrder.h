//===- BatchOrder.h - order in which axes split a batch of several factors ===//

#ifndef PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H
#define PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// A rule for a batch dim that consists of several factors (parts), such as
/// [2|3] for 6 samples: axes may split a factor only if all factors to its left
/// are split completely, and by no more minor part of the same axis. The rule
/// holds in two cases:
///
/// - `--reproducible` is given. Sums over the batch are then ordered as a
///   binary tree (OrderedSums.h), and the batch has one factor for each level
///   of the tree. The rule allows [2@dp|2|2], where `dp` splits the first
///   factor, but not [2|2@dp|2].
/// - Ranks cannot divide a microbatch evenly. One factor then counts the
///   microbatches (ShardedGraph::unevenMicrobatches). The rule allows
///   [2@mb|3@dp].
class BatchOrder {
public:
  /// Keeps a reference to `graph`, which must outlive this object.
  BatchOrder(const ShardedGraph &graph, const dist::Mesh &mesh);

  /// Returns whether `op`, a way of splitting vertex `index` of the graph,
  /// follows this rule: if it splits a factor (part) of the batch, it splits
  /// all more major factors of the batch completely. Also returns true in two
  /// cases:
  ///
  /// - The rule does not hold for the graph (`holds` is false).
  /// - `op` reads the batch of all microbatches at once.
  bool isKept(unsigned index, const ShardedOp &op) const;

private:
  const ShardedGraph &graph;
  /// Whether axes must split the factors (parts) of the batch from major to
  /// minor in this graph.
  bool holds;
  /// The time axis of the mesh (microbatches).
  dist::Axis time;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H
