//===- BatchOrder.h - order in which axes split a batch of several factors ===//

#ifndef PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H
#define PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// The rule that axes split the factors (parts) of a batch from major to minor.
/// It holds if the batch has several factors for one of two reasons: the sums
/// over the batch are ordered (OrderedSums.h), or microbatches are cut off
/// because ranks cannot divide a microbatch evenly
/// (ShardedGraph::unevenMicrobatches).
///
/// The batch of an ordered sum is cut into as many factors as its tree has
/// levels: [2|2|2] for 8 samples. Two ranks split it as [2@dp|2|2], not as
/// [2|2@dp|2] or [2|2|2@dp]. Thus ranks have whole branches of the tree, and an
/// op does not have as many choices as there are ways to place the parts of an
/// axis on the factors. A batch of 2 microbatches with 3 samples each is
/// [2|3]. Microbatches split the first factor, and ranks the second one:
/// [2@mb|3@dp].
class BatchOrder {
public:
  /// Keeps a reference to `graph`, which must outlive this object.
  BatchOrder(const ShardedGraph &graph, const dist::Mesh &mesh);

  /// Returns whether `op`, a way of splitting vertex `index` of the graph,
  /// follows the rule: it splits a factor of the batch only if all factors of
  /// the batch that are major to it in the dim are filled, that is, split into
  /// parts of at most one element. Always true for a vertex that reads the
  /// batch of all microbatches, because its first factor numbers the
  /// microbatches, and if the rule does not hold for the graph.
  bool isKept(unsigned index, const ShardedOp &op) const;

private:
  const ShardedGraph &graph;
  /// Whether the rule holds for the graph.
  bool holds;
  /// The time axis of the mesh (microbatches).
  dist::Axis time;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H
