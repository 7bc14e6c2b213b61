//===- SequenceOps.h - ops that context parallelism must divide -----------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H
#define PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// The ops that context parallelism (`cp`) must split along the sequence, if
/// they have a sequence dim:
///
/// - contractions, attention, and reads of float weights;
/// - the ops that compute with their results.
///
/// Ops on masks and positions, and changes of layout, may stay whole.
///
///   ids       -> embedding -> norm -> query, key, value -> attention -> …
///   positions -> mask ---------------------------------^
class SequenceOps {
public:
  /// Finds the ops of `graph` that must split the sequence. The graph may be
  /// destroyed before this object.
  explicit SequenceOps(const ShardedGraph &graph);

  /// Returns whether vertex `op` (an op of the graph) must split the sequence.
  bool contains(unsigned op) const { return ops.test(op); }

private:
  /// Set of the vertices (ops of the graph) that must split the sequence.
  llvm::BitVector ops;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H
