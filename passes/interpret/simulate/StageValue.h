//===- StageValue.h - one value of a stage as its ranks hold it -----------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_STAGEVALUE_H
#define PCC_PASSES_INTERPRET_SIMULATE_STAGEVALUE_H

#include "dialects/dist/DistDialect.h"
#include "passes/interpret/simulate/RankTensors.h"
#include "passes/interpret/simulate/ShardIndices.h"
#include "passes/interpret/simulate/SimulatedRanks.h"

namespace pcc::interpret {

/// What one rank holds, and which elements of the whole these are.
struct RankShard {
  int64_t rank;
  LocalIndices indices;
  TensorPointer tensor;
};

/// Whole, if the value says nothing else of the tensor of `rank` dims.
dist::Sharding shardingOf(mlir::Value value, int64_t rank);

/// One value of a stage at one microbatch.
struct StageValue {
  mlir::Value value;
  /// What an output is written by; for other values, what its op says. May be
  /// null: then every rank holds the whole.
  dist::ShardingAttr sharding;
  SimulatedRanks ranks;
  /// Number of the stage's first rank among all ranks.
  int64_t firstRank;
  const RankTensors &tensors;

  /// The shards on all ranks, if the whole has this shape.
  std::vector<RankShard> shards(llvm::ArrayRef<int64_t> shape) const;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_STAGEVALUE_H
