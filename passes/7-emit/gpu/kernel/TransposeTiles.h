//===- TransposeTiles.h - transposes through shared memory ----------------===//
//
// Where a result and what it is made of lie across each other, neighbouring
// threads cannot read neighbours and write neighbours. A block takes a square
// instead: reads it along the operand, meets, and writes it along the result.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_TRANSPOSETILES_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_TRANSPOSETILES_H

#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Writes a kernel whose plan has a transposed dim. `block` and `thread` are the
/// current ones' numbers.
void writeTransposeTiles(KernelWriter &w, rank::KernelOp kernel,
                         const GpuPlan &plan,
                         llvm::ArrayRef<mlir::Value> outputs,
                         const Index &block, const Index &thread);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_TRANSPOSETILES_H
