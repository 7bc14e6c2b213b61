//===- StageValue.h - one value of a stage on all its ranks ---------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_STAGEVALUE_H
#define PCC_PASSES_INTERPRET_SIMULATE_STAGEVALUE_H

#include "dialects/dist/DistDialect.h"
#include "passes/interpret/simulate/RankTensors.h"
#include "passes/interpret/simulate/ShardIndices.h"
#include "passes/interpret/simulate/SimulatedRanks.h"

namespace pcc::interpret {

/// The shard of a value that one rank holds.
struct RankShard {
  /// Number of the rank among the ranks of the whole pipeline.
  int64_t rank;
  /// Global indices of the shard's elements: one list per dim.
  LocalIndices indices;
  /// The shard's elements; null if only the indices are kept.
  TensorPointer tensor;
};

/// Returns the sharding recorded for `value`, a tensor of rank `rank`. If none
/// is recorded, returns the sharding that splits nothing.
dist::Sharding shardingOf(mlir::Value value, int64_t rank);

/// A value that a stage has computed for one microbatch, on all ranks of the
/// stage.
struct StageValue {
  mlir::Value value;
  /// Sharding of the value; null if every rank holds the whole value. For a
  /// model output, it is the sharding in which the output is written.
  dist::ShardingAttr sharding;
  SimulatedRanks ranks;
  /// Number of the stage's first rank among the ranks of the whole pipeline.
  int64_t firstRank;
  /// Tensors of the value, indexed by the rank within the stage. Not owned.
  const RankTensors &tensors;

  /// Returns the shard of this value on each rank of the stage. `shape` is the
  /// global shape of the value.
  std::vector<RankShard> shards(llvm::ArrayRef<int64_t> shape) const;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_STAGEVALUE_H
