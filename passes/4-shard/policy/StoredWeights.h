//===- StoredWeights.h - weights, gradients and states stored in shards ---===//

#ifndef PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H
#define PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/StringSet.h"

#include <set>

namespace pcc::shard {

/// The tensors that are stored divided among ranks, and all-gathered where they
/// are used: ZeRO (Rajbhandari et al. 2020) and FSDP. They are the weights in
/// the attribute `dist.divided` and, by preset, tensors of two or more dims:
///
///   preset        optimizer state   gradients   weights
///   zero1         yes
///   zero2         yes               yes
///   zero3, fsdp   yes               yes         yes
///
/// A tensor for which the user requests a sharding keeps that sharding.
///
///   stored [tp+dp, -]  --all-gather over dp-->  used [tp, -]
class StoredWeights {
public:
  /// Finds the tensors of `graph` that are stored divided among ranks. `graph`
  /// may be destroyed before this object.
  explicit StoredWeights(const ShardedGraph &graph);

  /// Returns whether no tensor is stored divided among ranks.
  bool empty() const { return divided.empty(); }
  /// Returns whether the result of vertex `op` (an op of the graph) is stored
  /// divided among ranks.
  bool contains(unsigned op) const { return divided.contains(op); }

private:
  /// Returns whether the result of `op` must be stored divided among ranks. The
  /// user must not have requested a sharding for it. `parameters` are the
  /// symbols of the module.
  bool isDivided(mlir::Operation *op,
                 const mlir::SymbolTable &parameters) const;

  /// Whether presets divide weights, gradients and the optimizer state.
  bool weights, gradients, states;
  /// Names of parameters that are divided whatever their shape: those in
  /// `dist.divided`, and master copies of weights.
  llvm::StringSet<> names;
  /// The vertices (ops of the graph) whose results are stored divided among
  /// ranks.
  std::set<unsigned> divided;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H
