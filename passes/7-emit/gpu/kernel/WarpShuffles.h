//===- WarpShuffles.h - reductions over lanes of a warp by shuffles -------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_WARPSHUFFLES_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_WARPSHUFFLES_H

#include "passes/7-emit/kernel/RowThreads.h"

namespace pcc::emit {

/// Number of threads (lanes) of a warp.
inline constexpr int64_t lanesOfWarp = 32;

/// Emits an all-reduce of the values `own` over each group of `lanes`
/// neighbouring lanes. `lanes` is a power of two. `merge` combines the values
/// of two lanes. Each lane of a group gets the same values if `merge` is
/// commutative. All lanes of the warp must execute the code together.
llvm::SmallVector<mlir::Value> reduceLanes(KernelWriter &w,
                                           mlir::ValueRange own, int64_t lanes,
                                           MergeBody merge);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_WARPSHUFFLES_H
