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

/// Emits the body of a kernel that transposes operands through shared memory.
/// The kernel moves the innermost dim of an operand to dim `plan.transposedDim`
/// of the results. If `plan.transposedDim` is -1, the plan belongs to another
/// kind of kernel, and the function must not be called.
///
///   outputs   pointers to the results
///   block     index of the current block
///   thread    index of the current thread in its block
void writeTransposeTiles(KernelWriter &w, rank::KernelOp kernel,
                         const GpuPlan &plan,
                         llvm::ArrayRef<mlir::Value> outputs,
                         const Index &block, const Index &thread);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_TRANSPOSETILES_H
