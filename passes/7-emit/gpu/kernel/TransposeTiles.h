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

/// Emits the body of `kernel`, which transposes operands through tiles in
/// shared memory. `plan.transposedDim` must not be -1. `outputs` are pointers
/// to the results. `block` is the index of the block, and `thread` is the index
/// of the thread in the block.
void writeTransposeTiles(KernelWriter &w, rank::KernelOp kernel,
                         const GpuPlan &plan,
                         llvm::ArrayRef<mlir::Value> outputs,
                         const Index &block, const Index &thread);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_TRANSPOSETILES_H
