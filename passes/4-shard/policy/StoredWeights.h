//===- StoredWeights.h - weights, gradients and states stored in shards ---===//

#ifndef PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H
#define PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/StringSet.h"

#include <set>

namespace pcc::shard {

/// The tensors that are stored divided. Each rank stores a part of the tensor,
/// and ranks all-gather it before an op uses it, as in ZeRO (Rajbhandari et al.
/// 2020) and FSDP. The tensors are the weights in the module attribute
/// `dist.divided`, which the compiler fills if memory is too small otherwise,
/// and the tensors of two or more dims that `--preset` selects:
///
///   preset        optimizer state   gradients   weights
///   zero1         yes
///   zero2         yes               yes
///   zero3, fsdp   yes               yes         yes
///
/// The optimizer state includes f32 copies of weights. A tensor for which the
/// user requests a sharding keeps that sharding.
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
  /// Returns whether each rank stores only a part of the result of `op`. The
  /// result must be a parameter in `names`, or a parameter or a gradient that
  /// `--preset` divides and that has two dims of more than one element. With
  /// one microbatch, a gradient that a `graph.add` reads is not divided,
  /// because it is one of several addends of the gradient of a weight.
  /// `parameters` is the symbol table of the module. The caller must check
  /// first that no sharding is requested for the result.
  bool isDivided(mlir::Operation *op,
                 const mlir::SymbolTable &parameters) const;

  /// Three flags, one each for the weights, the gradients and the optimizer
  /// state. A flag is true if the option `--preset` requires that each rank
  /// stores only a part of these tensors.
  bool weights, gradients, states;
  /// Names of parameters that are stored divided among ranks, even if they have
  /// only one dim. They are the names in the attribute `dist.divided` of the
  /// module, and the names of master copies. A master copy is a weight of
  /// mixed-precision training, which the model reads only through casts to a
  /// narrower type.
  llvm::StringSet<> names;
  /// The vertices (ops of the graph) whose results are stored divided among
  /// ranks.
  std::set<unsigned> divided;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H
