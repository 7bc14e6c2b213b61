//===- WarpShuffles.h - what lanes of a warp tell each other --------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_WARPSHUFFLES_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_WARPSHUFFLES_H

#include "passes/7-emit/kernel/RowThreads.h"

namespace pcc::emit {

inline constexpr int64_t lanesOfWarp = 32;

/// On each of `lanes` neighbouring lanes, a power of two, what all of them
/// have, merged in the same order on each.
llvm::SmallVector<mlir::Value> reduceLanes(KernelWriter &w,
                                           mlir::ValueRange own, int64_t lanes,
                                           MergeBody merge);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_WARPSHUFFLES_H
