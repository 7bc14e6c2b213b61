//===- SequenceOps.h - ops that context parallelism must divide -----------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H
#define PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// The set of ops that context parallelism (the mesh axis `cp`) must split
/// along the sequence. This rule has no effect on an op without a sequence dim.
/// Two kinds of ops belong to the set:
///
/// 1. contractions (such as a matmul), attention, and each
///    `graph.get_parameter` that reads a weight (a parameter whose elements are
///    floats)
/// 2. ops that depend on the result of an op of the first kind, directly or
///    through other ops
///
/// There is one exception: an op that only changes the layout or the element
/// type of its one operand, such as a transpose or a cast, never belongs to the
/// set.
///
/// All other ops are outside of the set. Each rank may compute them for the
/// whole sequence. An example is an op that computes a mask only from
/// positions. In the picture, `ids` and `positions` are inputs of the model.
/// All ops of the picture except the mask belong to the set:
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
