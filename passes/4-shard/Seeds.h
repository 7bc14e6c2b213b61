//===- Seeds.h - shardings that the user asked for ------------------------===//

#ifndef PCC_PASSES_4_SHARD_SEEDS_H
#define PCC_PASSES_4_SHARD_SEEDS_H

#include "passes/4-shard/ShardedGraph.h"

namespace pcc::shard {

/// A sharding that a value was pinned to, and the text that asked for it.
struct Seed {
  dist::Sharding sharding;
  llvm::StringRef text;
};

/// The seeds of a function: the module's `dist.seeds` (strings NAME=[…], names
/// may be globs), applied to weights, inputs, outputs and values by name. Batch
/// dims are seeded with `mb` and `dp`.
class Seeds {
public:
  /// Fails after an error where a name matches nothing, the text does not
  /// parse, or the sharding does not fit the mesh or the shape.
  static mlir::FailureOr<Seeds> resolve(const ShardedGraph &graph,
                                        const dist::Mesh &mesh);

  /// Whether op `op` may have these results, as far as the axes handed out so
  /// far (`decided`) tell.
  bool allows(unsigned op, const ShardedOp &candidate,
              const dist::SubAxes &decided) const;

  const Seed *find(unsigned op) const {
    auto it = seeds.find(op);
    return it == seeds.end() ? nullptr : &it->second;
  }

  /// The ops that have a seed, with what they are pinned to.
  llvm::DenseMap<unsigned, dist::Sharding> pinned() const {
    llvm::DenseMap<unsigned, dist::Sharding> ops;
    for (const auto &[op, seed] : seeds)
      ops[op] = seed.sharding;
    return ops;
  }

private:
  llvm::DenseMap<unsigned, Seed> seeds;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEEDS_H
