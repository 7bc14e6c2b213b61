//===- AxisSearch.h - what one axis splits, at the least cost ------------===//

#ifndef PCC_PASSES_4_SHARD_AXISSEARCH_H
#define PCC_PASSES_4_SHARD_AXISSEARCH_H

#include "passes/4-shard/ShardedGraph.h"
#include "passes/plan/CostGraph.h"
#include "passes/plan/Reshard.h"

namespace pcc::shard {

/// What an axis may split (design.md §6).
enum class AxisRole : uint8_t {
  Free,     ///< anything
  Batch,    ///< the batch only: dp, and mb
  Sequence, ///< the sequence only: cp
  Tensor,   ///< anything but the batch; contraction weights must be split: tp
};

/// The role that an axis has by its name, `mb`, `dp`, `cp` or `tp`; Free for
/// all others.
AxisRole roleOf(llvm::StringRef axis);

/// Hands out an axis, given by its prime parts, major first, after those in
/// `before`: chooses what it does to each op of `graph` such that the bytes
/// received per rank are least, then the calls, then the memory; exactly, by
/// variable elimination, among the plans that give the parts out together and,
/// prime by prime, apart. Choices that were made for earlier axes stay. Returns
/// what all that has been handed out costs, penalties of this axis alone. Fails
/// where a seed, or the nature of the axis, cannot be met, after an error at
/// the op if it `reports`.
mlir::FailureOr<plan::Cost>
assignAxis(ShardedGraph &graph, llvm::ArrayRef<dist::SubAxis> parts,
           const dist::SubAxes &before, AxisRole role, const Seeds &seeds,
           plan::ReshardPlanner &planner, bool reports);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_AXISSEARCH_H
