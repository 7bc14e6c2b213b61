//===- SequenceOps.h - which ops work on what tokens have become ----------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H
#define PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// The ops that an axis of the sequence divides wherever they have a sequence:
/// those that contract, or read weights of floats, and everything behind them
/// that computes. What inputs alone decide, masks and positions, costs little,
/// and other layouts of a value cost nothing: these are whole or not as they
/// are wanted.
///
///   ids       -> embedding -> norm -> query, key, value -> attention -> …
///   positions -> mask ---------------------------------^
class SequenceOps {
public:
  explicit SequenceOps(const ShardedGraph &graph);

  bool contains(unsigned op) const { return ops.test(op); }

private:
  llvm::BitVector ops;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_SEQUENCEOPS_H
