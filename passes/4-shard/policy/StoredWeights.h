//===- StoredWeights.h - weights, gradients and states stored in shards ---===//

#ifndef PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H
#define PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/StringSet.h"

#include <set>

namespace pcc::shard {

/// The tensors that are stored divided among ranks: each rank stores a part of
/// the tensor. Ranks all-gather a tensor before an op uses it, as in ZeRO
/// (Rajbhandari et al. 2020) and FSDP. Two groups of tensors are stored
/// divided:
///
/// - Weights that the attribute `dist.divided` of the module lists. The
///   compiler fills this list if the plan does not fit into memory otherwise.
/// - Tensors of two or more dims, if the user gives the option `--preset` with
///   a value in the table. The table shows the tensors that each value divides.
///   The optimizer state includes the f32 copies of weights in mixed-precision
///   training.
///
///   preset        optimizer state   gradients   weights
///   zero1         yes
///   zero2         yes               yes
///   zero3, fsdp   yes               yes         yes
///
/// A tensor for which the user requests a sharding keeps that sharding.
///
/// Example: a tensor has two dims, and the mesh axes tp and dp have size 2.
/// [8@tp+dp, -] means that tp and dp split the first dim of 8 elements into 4
/// parts. No axis splits the second dim.
///
///   stored [8@tp+dp, -]   --all-gather over dp-->   used [8@tp, -]
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
  /// Returns whether each rank stores only a part of the result of `op`.
  /// `parameters` is the symbol table of the module. The function finds the
  /// declaration of a parameter in this table. The function does not check
  /// whether the user requests a sharding for the result. The caller must check
  /// this first.
  ///
  /// The function returns true only for these two kinds of ops:
  ///
  /// - A `graph.get_parameter` reads a parameter, which is a weight or a tensor
  ///   of the optimizer state. Returns true if the member `names` contains the
  ///   parameter. Also returns true if the option `--preset` divides parameters
  ///   of this kind, and the parameter has at least two dims of more than one
  ///   element.
  /// - A `graph.accumulate` returns the gradient of a weight. Returns true if
  ///   the option `--preset` divides gradients, and the gradient has at least
  ///   two dims of more than one element. There is one exception: if a training
  ///   step has only one microbatch, and a `graph.add` reads the result of
  ///   `op`, the function returns false. The result is then one addend of a
  ///   gradient. For example, the embedding and the output layer use the same
  ///   weight. The gradient of this weight has two addends, one from the
  ///   embedding and one from the output layer.
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
