//===- StageValue.cpp - one value of a stage on all its ranks -------------===//

#include "passes/interpret/simulate/StageValue.h"

using namespace pcc;
using namespace pcc::interpret;

dist::Sharding interpret::shardingOf(mlir::Value value, int64_t rank) {
  if (auto given = dist::shardingOf(value))
    return given.getSharding();
  return dist::Sharding::whole(rank);
}

bool interpret::isLocalType(mlir::RankedTensorType type,
                            const dist::Sharding &sharding,
                            llvm::ArrayRef<int64_t> shape) {
  return sharding.rank() == shape.size() &&
         dist::localType(
             mlir::RankedTensorType::get(shape, type.getElementType()),
             sharding) == type;
}

std::vector<RankShard> StageValue::shards(llvm::ArrayRef<int64_t> shape) const {
  const dist::Sharding given =
      sharding ? sharding.getSharding() : dist::Sharding::whole(shape.size());
  std::vector<RankShard> held;
  for (int64_t rank = 0; rank < ranks.size(); ++rank)
    held.push_back({firstRank + rank,
                    localIndices(given, shape, ranks.mesh, ranks.at(rank)),
                    tensors[rank]});
  return held;
}
