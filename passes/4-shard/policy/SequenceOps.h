//===- SequenceOps.h - ops that context parallelism must divide -----------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H
#define PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// The ops that context parallelism (the mesh axis `cp`) must split along the
/// sequence, if they have a sequence dim. Two kinds of ops belong to this set:
///
/// - contractions (such as a matmul), attention, and `graph.get_parameter` ops
///   whose result has elements of a float type;
/// - ops that depend on the result of an op of the first kind, except for
///   changes of layout and casts.
///
/// Other ops may keep the whole sequence on every rank. Examples are the ops
/// that compute a mask from positions. In the picture, all ops except the mask
/// belong to the set:
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
