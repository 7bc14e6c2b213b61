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
  /// The shard's elements. The pointer is null after a user of the shard has
  /// released the tensor to save memory. The member `indices` is still valid in
  /// this case.
  TensorPointer tensor;
};

/// Returns the sharding of `value` that the IR contains. If `value` is a result
/// of an op, this sharding is in the attribute `dist.shardings` of the op. If
/// `value` is an argument of a function, this sharding is in the attribute
/// `dist.sharding` of the argument. If the attribute is absent, the function
/// returns the sharding in which every process holds the whole tensor. The
/// parameter `rank` is the number of dims of `value`.
dist::Sharding shardingOf(mlir::Value value, int64_t rank);

/// Returns whether `type` is that of a rank's shard of a tensor with the global
/// shape `shape` and this sharding.
bool isLocalType(mlir::RankedTensorType type, const dist::Sharding &sharding,
                 llvm::ArrayRef<int64_t> shape);

/// A value that a stage has computed for one microbatch, on all ranks of the
/// stage.
struct StageValue {
  mlir::Value value;
  /// Sharding of `value` over the ranks; null if every rank holds the whole
  /// value. For an output of the model, the attribute `dist.sharding` of the
  /// function's result takes precedence over dist::shardingOf(value).
  dist::ShardingAttr sharding;
  SimulatedRanks ranks;
  /// Number of the first rank that runs the stage. Numbers of ranks start at 0
  /// and count all ranks of the pipeline. Example: a pipeline has two stages.
  /// Stage 0 runs on the ranks 0 to 3, and stage 1 runs on the ranks 4 to 7.
  /// For a value of stage 1, `firstRank` is 4.
  int64_t firstRank;
  /// Shards of the value, one per rank of the stage. Entry 0 is the shard on
  /// the first rank of the stage. The StageValue does not own this list, so the
  /// list must exist at least as long as the StageValue.
  const RankTensors &tensors;

  /// Returns the shard of this value on each rank of the stage. `shape` is the
  /// global shape of the value.
  std::vector<RankShard> shards(llvm::ArrayRef<int64_t> shape) const;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_STAGEVALUE_H
