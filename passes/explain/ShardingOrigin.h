//===- ShardingOrigin.h - where a sharding came from ----------------------===//

#ifndef PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
#define PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H

#include "dialects/dist/Sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/explain/ValueExplanation.h"

namespace pcc::explain {

/// Follows an axis from a value along the factors that it splits, through
/// everything that is split with it and needs no reshard, to the nearest of
/// what says most: a pin; the batch or the sequence of an input, for axes that
/// split nothing else; an op whose alternatives were priced; a weight.
/// `function` has passed 4-shard.
Origin originOf(mlir::Value value, const dist::Axis &axis);

/// The value that `value` is another form of, by reshards and transfers.
mlir::Value stripReshards(mlir::Value value);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
