//===- StoredWeights.h - weights that every axis divides while they rest --===//

#ifndef PCC_PASSES_4_SHARD_STOREDWEIGHTS_H
#define PCC_PASSES_4_SHARD_STOREDWEIGHTS_H

#include "passes/4-shard/ShardedGraph.h"

#include <set>

namespace pcc::shard {

/// On the module: the names of weights that have to be stored divided so that
/// all fits into memory; none if there is no need.
inline constexpr llvm::StringLiteral dividedName = "dist.divided";

/// Which weights are stored in as many parts as there are ranks that would hold
/// the same otherwise, and gathered where they are used: those of
/// `dist.divided` and, with the presets fsdp and zero3, all of two or more
/// dims. Weights that the user has pinned stay as they are.
///
///   stored [tp+dp, -]  --all-gather over dp-->  used [tp, -]
class StoredWeights {
public:
  explicit StoredWeights(const ShardedGraph &graph);

  bool empty() const { return divided.empty(); }
  bool contains(unsigned op) const { return divided.contains(op); }

private:
  std::set<unsigned> divided;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_STOREDWEIGHTS_H
