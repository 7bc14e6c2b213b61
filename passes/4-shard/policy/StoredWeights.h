//===- StoredWeights.h - weights that every axis divides while they rest --===//

#ifndef PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H
#define PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/StringSet.h"

#include <set>

namespace pcc::shard {

/// On the module: the names of weights that have to be stored divided so that
/// all fits into memory; none if there is no need.
inline constexpr llvm::StringLiteral dividedName = "dist.divided";

/// What is stored in as many parts as there are ranks that would hold the same
/// otherwise, and gathered where it is used: weights of `dist.divided`; and of
/// tensors of two or more dims with the preset zero1 the state of the
/// optimizer, with zero2 gradients as well, as soon as a microbatch has made
/// them, with zero3 and fsdp also weights. What the user has pinned stays as it
/// is.
///
///   stored [tp+dp, -]  --all-gather over dp-->  used [tp, -]
class StoredWeights {
public:
  explicit StoredWeights(const ShardedGraph &graph);

  bool empty() const { return divided.empty(); }
  bool contains(unsigned op) const { return divided.contains(op); }

private:
  bool isDivided(mlir::Operation *op) const;

  bool weights, gradients, states;
  llvm::StringSet<> names;
  std::set<unsigned> divided;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_STOREDWEIGHTS_H
