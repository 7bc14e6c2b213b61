//===- StoredWeights.h - weights, gradients and states stored in shards ---===//

#ifndef PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H
#define PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/StringSet.h"

#include <set>

namespace pcc::shard {

/// The tensors of which each rank stores only a part, as in ZeRO (Rajbhandari
/// et al. 2020) and FSDP: the weights in the module attribute `dist.divided`,
/// and tensors of two or more dims that `--preset` selects:
///
///   preset        optimizer state   gradients   weights
///   zero1         yes
///   zero2         yes               yes
///   zero3, fsdp   yes               yes         yes
///
/// A sharding that the user sets (--shard or an annotation) takes precedence.
class StoredWeights {
public:
  /// Finds the tensors of `graph` that are stored divided among ranks. `graph`
  /// may be destroyed before this object.
  explicit StoredWeights(const ShardedGraph &graph);

  /// Returns whether no tensor is stored divided among ranks.
  bool empty() const { return divided.empty(); }
  /// Returns whether the result of node `op` of the graph is stored divided
  /// among ranks.
  bool contains(unsigned op) const { return divided.contains(op); }

private:
  /// Returns whether each rank stores only a part of the result of `op`,
  /// because of `names` or `--preset`. `parameters` is the symbol table of the
  /// module. The caller must check that the user did not set a sharding for the
  /// result.
  bool isDivided(mlir::Operation *op,
                 const mlir::SymbolTable &parameters) const;

  /// Three flags, one each for the weights, the gradients and the optimizer
  /// state. A flag is true if the option `--preset` requires that each rank
  /// stores only a part of these tensors.
  bool weights, gradients, states;
  /// Names of parameters that are stored divided: those in the module attribute
  /// `dist.divided`, and master weights (weights that the model reads only
  /// through casts to a narrower type).
  llvm::StringSet<> names;
  /// The nodes of the graph whose results are stored divided among ranks.
  std::set<unsigned> divided;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H
