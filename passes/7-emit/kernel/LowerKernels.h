//===- LowerKernels.h - kernels as loops in the LLVM dialect --------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_LOWERKERNELS_H
#define PCC_PASSES_7_EMIT_KERNEL_LOWERKERNELS_H

#include "dialects/rank/RankDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::emit {

/// Registers the dialects of the ops that lowerKernels() creates in `registry`.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// Lowers the kernels of `module` for CPUs. Returns a new module in the LLVM
/// dialect, or null on failure.
///
/// The function of kernel number n is called `pcc_k_<n>` and has the signature
/// of PccKernelFunction (runtime/program/ProgramImage.h). The list of buffers
/// has the operands, then the results. One call computes the outer iterations
/// (independent units of work) from `begin` up to, but not including, `end`.
///
/// The rank.kernel ops of `module` have the first numbers. The kernels of
/// randomKernelsOf() follow; one outer iteration of them generates one element.
///
/// Loads dialects, so it must not run within a pass.
mlir::OwningOpRef<mlir::ModuleOp> lowerKernels(mlir::ModuleOp module);

/// Returns a new module with the code of all kernels of `module`: the first
/// step of the lowering for any target. Calls `write` for every rank.kernel op.
/// Then calls `writeRandom` for every kernel of randomKernelsOf(), which fill
/// random weights. Both functions get the number of the kernel, and a builder
/// that inserts at the end of the new module.
///
/// Loads the dialects of `registry`, so it must not run within a pass.
mlir::OwningOpRef<mlir::ModuleOp> writeKernels(
    mlir::ModuleOp module, const mlir::DialectRegistry &registry,
    llvm::function_ref<void(mlir::OpBuilder &, rank::KernelOp, int64_t number)>
        write,
    llvm::function_ref<void(mlir::OpBuilder &, llvm::ArrayRef<mlir::Type>,
                            int64_t number)>
        writeRandom);

/// Converts the scf, arith, math and cf ops of `module` to the LLVM dialect:
/// the last step of the lowering for any target.
mlir::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_LOWERKERNELS_H
