//===- TransposeTiles.h - transposes by tiles in shared memory ------------===//
//
// If a kernel transposes an operand, neighboring threads cannot both read
// neighboring elements of the operand and write neighboring elements of the
// result. Therefore each block computes a square tile. The block reads the tile
// along the rows of the operand into shared memory, waits at a barrier, and
// writes the tile along the rows of the result. Both accesses are coalesced.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_TRANSPOSETILES_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_TRANSPOSETILES_H

#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Emits the body of `kernel`, which transposes at least one operand through
/// shared memory. Each block copies a square tile of each such operand to
/// shared memory. The block then reads the tile in the order of the results.
///
/// `plan` describes how the kernel is divided into blocks and threads. The
/// transposes move the innermost dim of their operands to dim
/// `plan.transposedDim` of the results. Example: a transpose from shape [64,
/// 96] to shape [96, 64] moves the innermost dim to dim 0, so
/// `plan.transposedDim` is 0. The caller must not pass a plan in which
/// `plan.transposedDim` is -1.
///
///   w         emits the code
///   outputs   pointers to the results
///   block     index of the current block
///   thread    index of the current thread in its block
void writeTransposeTiles(KernelWriter &w, rank::KernelOp kernel,
                         const GpuPlan &plan,
                         llvm::ArrayRef<mlir::Value> outputs,
                         const Index &block, const Index &thread);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_TRANSPOSETILES_H
