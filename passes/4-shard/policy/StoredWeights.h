//===- StoredWeights.h - weights, gradients and states stored in shards ---===//

#ifndef PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H
#define PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/StringSet.h"

#include <set>

namespace pcc::shard {

/// Name of the module attribute that lists the weights that must be stored
/// divided so that the plan fits into memory. The attribute is absent if all
/// fits without it.
inline constexpr llvm::StringLiteral dividedName = "dist.divided";

/// Tensors that are stored fully sharded over the ranks that would otherwise
/// hold replicas, and all-gathered where they are used: ZeRO (Rajbhandari et
/// al. 2020) and FSDP. The weights that `dist.divided` lists are stored like
/// this. Presets add tensors that have two or more dims of more than one
/// element:
///
///   preset        optimizer state   gradients   weights
///   zero1         yes
///   zero2         yes               yes
///   zero3, fsdp   yes               yes         yes
///
/// Gradients are stored in shards as soon as a microbatch has made them. A
/// tensor that the user has pinned stays as pinned.
///
///   stored [tp+dp, -]  --all-gather over dp-->  used [tp, -]
class StoredWeights {
public:
  /// Finds the tensors in `graph`, which need not outlive this.
  explicit StoredWeights(const ShardedGraph &graph);

  /// Returns whether nothing is stored in shards.
  bool empty() const { return divided.empty(); }
  /// Returns whether the result of vertex `op` is stored in shards.
  bool contains(unsigned op) const { return divided.contains(op); }

private:
  /// Returns whether the result of `op` must be stored in shards. `op` must not
  /// be pinned.
  bool isDivided(mlir::Operation *op) const;

  /// Whether the presets shard weights, gradients, and optimizer state.
  bool weights, gradients, states;
  /// Parameters that are stored in shards with any shape: those of
  /// `dist.divided`, and master copies of weights.
  llvm::StringSet<> names;
  /// The vertices whose results are stored in shards.
  std::set<unsigned> divided;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H
