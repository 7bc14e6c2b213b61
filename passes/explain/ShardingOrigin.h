//===- ShardingOrigin.h - search for the decision behind a sharding -------===//

#ifndef PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
#define PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/explain/ReaderSteps.h"
#include "passes/explain/ValueExplanation.h"
#include "sharding/Sharding.h"

namespace pcc::explain {

/// Returns the effect of the mesh axis `axis` on `value`, and the reason. The
/// axis splits a dim, or each rank has a partial result, or all ranks have
/// equal elements. `value` must be in the IR directly after phase 4-shard. If
/// `value` has no sharding, the result contains only the name of the axis.
/// `readers` finds communications in the mesh of the module.
Origin originOf(mlir::Value value, const dist::Axis &axis,
                ReaderSteps &readers);

/// Returns the value from which reshards and transfers between pipeline stages
/// have copied `value`. Returns `value` itself if it is no copy.
mlir::Value stripReshards(mlir::Value value);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
