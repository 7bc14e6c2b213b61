//===- BatchOrder.h - order in which axes split a batch of several factors ===//

#ifndef PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H
#define PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// A rule about the order in which mesh axes may split the factors of a batch
/// dim. A batch dim counts samples. It may consist of several factors. For
/// example, the factors [2|3] divide 6 samples into 2 groups of 3 samples. The
/// notation [2@dp|3] means that the mesh axis `dp` splits the factor 2.
///
/// The rule has two conditions:
///
/// - A mesh axis may split a factor only if each factor to its left is split
///   completely. A factor of size 4 is split completely if mesh axes split it
///   into 4 parts. If `dp` has size 2, the rule allows [2@dp|2|2] and forbids
///   [2|2@dp|2].
/// - If two parts of one mesh axis split two factors, the more major part of
///   the axis must split the left factor. For example, the axis `dp` of size 4
///   consists of the major part dp:(1)2 and the minor part dp:(2)2. The rule
///   allows [2@dp:(1)2|2@dp:(2)2] and forbids [2@dp:(2)2|2@dp:(1)2].
///
/// The rule applies in two cases:
///
/// - The user gives `--reproducible`. Sums over the batch are then added in the
///   order of a binary tree (OrderedSums.h). The batch has one factor of size 2
///   for each level of the tree. For example, 8 samples have the factors
///   [2|2|2]. With [2@dp|2|2], rank 0 has samples 0 to 3. Their sum is one
///   subtree. With [2|2@dp|2], rank 0 would have samples 0, 1, 4 and 5. Their
///   sum is no subtree.
/// - Ranks cannot divide the samples of one microbatch evenly. The batch then
///   has one factor that counts microbatches, and one factor that counts the
///   samples of a microbatch (ShardedGraph::unevenMicrobatches). The rule
///   allows [2@mb|3@dp]: the axis `mb` splits the batch into 2 microbatches,
///   and the axis `dp` splits the 3 samples of each microbatch.
class BatchOrder {
public:
  /// Creates the rule for `graph`. The rule says in which order mesh axes may
  /// split a batch dim. The constructor finds out whether the rule applies to
  /// the graph. It reads the number of microbatches from `mesh`, which contains
  /// the names and sizes of all mesh axes. The object keeps a reference to
  /// `graph`. The caller must therefore not destroy `graph` before this object.
  BatchOrder(const ShardedGraph &graph, const dist::Mesh &mesh);

  /// Returns whether `op` follows the rule of BatchOrder. `op` is vertex
  /// `index` of the graph, and contains the mesh axes that split the dims of
  /// the vertex. A batch dim may consist of several factors. For example, 8
  /// samples may have the factors [2|4]: 2 groups of 4 samples. `op` breaks the
  /// rule in two cases:
  ///
  /// - A mesh axis splits a factor, and a factor to its left is split into
  ///   fewer parts than it has elements. For example, a mesh axis splits the
  ///   factor 4, and no mesh axis splits the factor 2.
  /// - Two parts of one mesh axis split two factors, and the more minor part
  ///   splits the left one.
  ///
  /// The function returns true without a test of the rule in two cases:
  ///
  /// - The rule does not apply to the graph (`holds` is false).
  /// - There are several microbatches, but no dim of `op` is split into
  ///   microbatches. The mesh axis `mb` splits a dim into microbatches.
  bool isKept(unsigned index, const ShardedOp &op) const;

private:
  const ShardedGraph &graph;
  /// Whether BatchOrder applies its rule to this graph. The rule says in which
  /// order mesh axes may split the factors of a batch dim. It applies if the
  /// user gave `--reproducible`, or if ranks cannot divide the samples of one
  /// microbatch evenly. If `holds` is false, any order is allowed.
  bool holds;
  /// The mesh axis `mb`. Its size is the number of microbatches. It is called
  /// the time axis, because a rank computes one microbatch after another.
  dist::Axis time;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H
