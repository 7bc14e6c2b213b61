//===- LowerKernels.h - kernels as loops in the LLVM dialect --------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_LOWERKERNELS_H
#define PCC_PASSES_7_EMIT_KERNEL_LOWERKERNELS_H

#include "dialects/rank/RankDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::emit {

/// Registers the dialects of the ops that lowerKernels() creates.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// Lowers the kernels of `module` for CPUs to functions `pcc_k_<n>` of type
/// PccKernelFunction (runtime/program/ProgramImage.h). The number n counts the
/// rank.kernel ops first, and then the kernels of randomKernelsOf(). Returns a
/// new module, or null on failure. lowerKernels() loads MLIR dialects, so a
/// pass must not call it.
mlir::OwningOpRef<mlir::ModuleOp> lowerKernels(mlir::ModuleOp module);

/// Returns a new module with the code of all kernels of `module`. Calls `write`
/// for each rank.kernel. Then calls `writeRandom` for each kernel of random
/// weights, with its element types (see randomKernelsOf()). `number` is the
/// number of the kernel: 0 in the first of all these calls, 1 in the second,
/// and so on. writeKernels() loads the dialects of `registry`, so a pass must
/// not call it.
mlir::OwningOpRef<mlir::ModuleOp> writeKernels(
    mlir::ModuleOp module, const mlir::DialectRegistry &registry,
    llvm::function_ref<void(mlir::OpBuilder &, rank::KernelOp, int64_t number)>
        write,
    llvm::function_ref<void(mlir::OpBuilder &, llvm::ArrayRef<mlir::Type>,
                            int64_t number)>
        writeRandom);

/// Converts the scf, arith, math and cf ops of `module` to the LLVM dialect.
mlir::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_LOWERKERNELS_H
