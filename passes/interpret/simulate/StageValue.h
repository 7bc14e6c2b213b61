//===- StageValue.h - one value of a stage on all its ranks ---------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_STAGEVALUE_H
#define PCC_PASSES_INTERPRET_SIMULATE_STAGEVALUE_H

#include "dialects/dist/DistDialect.h"
#include "passes/interpret/simulate/RankTensors.h"
#include "passes/interpret/simulate/ShardIndices.h"
#include "passes/interpret/simulate/SimulatedRanks.h"

namespace pcc::interpret {

/// One rank's shard of a value.
struct RankShard {
  /// Number of the rank among the ranks of all stages.
  int64_t rank;
  /// Global indices of the shard's elements.
  LocalIndices indices;
  /// Elements; null if only the indices are kept.
  TensorPointer tensor;
};

/// Returns the sharding that is recorded for `value`, a tensor of `rank` dims;
/// the whole, unsplit sharding if none is recorded.
dist::Sharding shardingOf(mlir::Value value, int64_t rank);

/// One value of a stage for one microbatch, on all ranks of the stage.
struct StageValue {
  mlir::Value value;
  /// Sharding of the value: for a model output, the one in which the output is
  /// written, otherwise the one recorded on its op. If null, every rank holds
  /// the whole value.
  dist::ShardingAttr sharding;
  SimulatedRanks ranks;
  /// Number of the stage's first rank among the ranks of all stages.
  int64_t firstRank;
  /// Tensors by rank; not owned.
  const RankTensors &tensors;

  /// Returns the shards of all ranks. `shape` is the global shape of the value.
  std::vector<RankShard> shards(llvm::ArrayRef<int64_t> shape) const;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_STAGEVALUE_H
