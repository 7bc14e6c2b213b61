//===- BatchOrder.h - order in which axes split a batch of several factors ===//

#ifndef PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H
#define PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// A rule for a batch dim that consists of several factors. For example, the
/// factors [2|3] divide a dim of 6 samples into 2 groups of 3 samples. The
/// notation [2@dp|3] means that the mesh axis `dp` splits the factor 2.
///
/// The rule has two conditions:
///
/// - A mesh axis may split a factor only if each factor to its left is split
///   completely. A factor of size 4 is split completely if mesh axes split it
///   into 4 parts.
/// - If two parts of one mesh axis split two factors, the more major part of
///   the axis must split the left factor. For example, the axis `dp` of size 4
///   has a major part of size 2 and a minor part of size 2.
///
/// The rule is applied in two cases:
///
/// - The user gives `--reproducible`. Sums over the batch are then added in the
///   order of a binary tree (OrderedSums.h). The batch has one factor of size 2
///   for each level of the tree. The rule allows [2@dp|2|2], and forbids
///   [2|2@dp|2].
/// - Ranks cannot divide the samples of one microbatch evenly. The batch then
///   has one factor that counts microbatches, and one that counts the samples
///   of a microbatch (ShardedGraph::unevenMicrobatches). The rule allows
///   [2@mb|3@dp]: the axis `mb` splits the batch into 2 microbatches, and the
///   axis `dp` splits the 3 samples of each microbatch.
class BatchOrder {
public:
  /// Keeps a reference to `graph`, which must outlive this object.
  BatchOrder(const ShardedGraph &graph, const dist::Mesh &mesh);

  /// Returns whether `op` follows the rule of BatchOrder for the factors of a
  /// batch dim. `op` is vertex `index` of the graph, with the mesh axes that
  /// split its dims. For example, a batch of 8 samples has the factors [2|4].
  /// `op` breaks the rule if a mesh axis splits the factor 4, and no mesh axis
  /// splits the factor 2.
  ///
  /// Also returns true in two cases:
  ///
  /// - The rule is not applied to the graph (`holds` is false).
  /// - There are several microbatches, and `op` is not split into microbatches.
  bool isKept(unsigned index, const ShardedOp &op) const;

private:
  const ShardedGraph &graph;
  /// Whether axes must split the factors (parts) of the batch from major to
  /// minor in this graph.
  bool holds;
  /// The mesh axis `mb`. Its size is the number of microbatches. It is called
  /// the time axis, because a rank computes one microbatch after another.
  dist::Axis time;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H
