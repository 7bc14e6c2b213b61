//===- SequenceOps.h - ops that context parallelism must divide -----------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H
#define PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// The ops that an axis of role Sequence (`cp`) must split wherever they have a
/// dim of the sequence. These are contractions, attention, reads of float
/// weights, and all ops behind them that compute. Masks and positions depend on
/// inputs alone and cost little, and a change of layout costs nothing: these
/// ops may stay whole.
///
///   ids       -> embedding -> norm -> query, key, value -> attention -> …
///   positions -> mask ---------------------------------^
class SequenceOps {
public:
  /// Finds the ops in `graph`, which need not outlive this.
  explicit SequenceOps(const ShardedGraph &graph);

  /// Returns whether vertex `op` is one of them.
  bool contains(unsigned op) const { return ops.test(op); }

private:
  /// The vertices that are.
  llvm::BitVector ops;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H
