//===- WarpShuffles.h - reductions over lanes of a warp by shuffles -------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_WARPSHUFFLES_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_WARPSHUFFLES_H

#include "passes/7-emit/kernel/RowThreads.h"

namespace pcc::emit {

/// Number of threads (lanes) of a warp.
inline constexpr int64_t lanesOfWarp = 32;

/// Emits an all-reduce over each group of `lanes` neighboring threads of a
/// warp. `lanes` must be a power of two. `own` are this thread's values.
/// `merge` emits the combination of the values of two threads.
///
/// All threads of the warp must execute the code together. If `merge` is
/// commutative, all threads of a group get equal values.
llvm::SmallVector<mlir::Value> reduceLanes(KernelWriter &w,
                                           mlir::ValueRange own, int64_t lanes,
                                           MergeBody merge);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_WARPSHUFFLES_H
