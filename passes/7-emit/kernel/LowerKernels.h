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
/// dialect, or null on failure. Kernel number n becomes the function
/// `pcc_k_<n>` of type PccKernelFunction (runtime/program/ProgramImage.h). The
/// rank.kernel ops come first, in the order of `module`, then the kernels of
/// randomKernelsOf(). A call executes the iterations `begin` to `end` − 1 of
/// the kernel's outermost loop. A kernel with the attribute `in_parts` ignores
/// `begin` and `end`, and one call executes the whole kernel. A pass must not
/// call lowerKernels(), because lowerKernels() loads MLIR dialects.
mlir::OwningOpRef<mlir::ModuleOp> lowerKernels(mlir::ModuleOp module);

/// Creates a new module with the code of all kernels of `module`, and returns
/// the new module. Calls `write` for each rank.kernel op, in the order of
/// `module`. Then calls `writeRandom` for each kernel that fills weights with
/// random numbers (randomKernelsOf()). The list of types has the element type
/// in which the model stores the weight, then the type after each cast, such as
/// [f32, bf16]. The builder inserts ops at the end of the new module. `number`
/// counts the calls from 0. A pass must not call writeKernels(), because
/// writeKernels() loads the dialects of `registry`.
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
