//===- LowerKernels.h - kernels as loops in the LLVM dialect --------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_LOWERKERNELS_H
#define PCC_PASSES_7_EMIT_KERNEL_LOWERKERNELS_H

#include "dialects/rank/RankDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::emit {

/// Registers the dialects of the ops that lowerKernels() creates.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// Lowers the kernels of `module` for CPUs. Returns a new module in the LLVM
/// dialect, or null on failure.
///
/// Kernel n becomes the function `pcc_k_<n>`. The rank.kernel ops have the
/// first numbers. The kernels that fill random weights follow (see
/// randomKernelsOf()). The functions have the type PccKernelFunction
/// (runtime/program/ProgramImage.h). One call executes the outer iterations
/// [begin, end), which are independent units of work.
///
/// Must not run within a pass, since it loads dialects.
mlir::OwningOpRef<mlir::ModuleOp> lowerKernels(mlir::ModuleOp module);

/// Returns a new module with the code of all kernels of `module`. Calls `write`
/// for each rank.kernel op. Then calls `writeRandom` for each kernel that fills
/// random weights (see randomKernelsOf()). Both functions get a builder for the
/// new module, and the number of the kernel in this order.
///
/// Loads the dialects of `registry`, so it must not run within a pass.
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
