//===- SequenceOps.h - ops that context parallelism must divide -----------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H
#define PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// The ops that context parallelism (`cp`) must split along the sequence dim,
/// if they have such a dim: contractions, attention, reads of float weights,
/// and all ops that depend on them. An op that only changes layout or element
/// type is exempt. In the picture, only `mask` need not be split:
///
///   ids       -> embedding -> norm -> query, key, value -> attention
///   positions -> mask ---------------------------------^
class SequenceOps {
public:
  /// Finds the ops of `graph` that must split the sequence. The graph may be
  /// destroyed before this object.
  explicit SequenceOps(const ShardedGraph &graph);

  /// Returns whether node `op` of the graph must split the sequence.
  bool contains(unsigned op) const { return ops.test(op); }

private:
  /// Set of the nodes (ops of the graph) that must split the sequence.
  llvm::BitVector ops;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H
