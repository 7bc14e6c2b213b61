//===- BatchOrder.h - order in which axes split a batch of several factors ===//

#ifndef PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H
#define PCC_PASSES_4_SHARD_POLICY_BATCHORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// A rule about the order in which mesh axes split the factors of a batch dim,
/// such as [2|2|2] for 8 samples. An axis may split a factor only if each
/// factor to its left is split completely: [2@dp|2|2] is allowed, and
/// [2|2@dp|2] is not. If two parts of one axis split two factors, the more
/// major part must split the left one. The rule applies with `--reproducible`,
/// because the samples of a rank must form a subtree of the tree of additions
/// (OrderedSums.h). It also applies if ranks cannot divide the samples of one
/// microbatch evenly (ShardedGraph::unevenMicrobatches).
class BatchOrder {
public:
  /// Creates the rule for `graph`. The rule says in which order mesh axes may
  /// split a batch dim. The constructor finds out whether the rule applies to
  /// the graph. It reads the number of microbatches from `mesh`, which contains
  /// the names and sizes of all mesh axes. The object keeps a reference to
  /// `graph`. The caller must therefore not destroy `graph` before this object.
  BatchOrder(const ShardedGraph &graph, const dist::Mesh &mesh);

  /// Returns whether `op` follows the rule about the order of mesh axes in a
  /// batch dim (see BatchOrder). `op` is vertex `index` of the graph, with the
  /// mesh axes that split it. Returns true if the rule does not apply to the
  /// graph. Also returns true if there are several microbatches and `mb` splits
  /// no dim of `op`.
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
