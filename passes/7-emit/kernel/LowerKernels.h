//===- LowerKernels.h - kernels as loops on pointers ----------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_LOWERKERNELS_H
#define PCC_PASSES_7_EMIT_KERNEL_LOWERKERNELS_H

#include "dialects/rank/RankDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::emit {

/// Adds the dialects that lowerKernels writes.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// A module in the LLVM dialect with one function for every rank.kernel of
/// `module`: the n-th is called `pcc_k_<n>` and has the signature of
/// PccKernelFunction (runtime/program/ProgramImage.h), with the operands'
/// buffers first and the results' behind them. Those of randomKernelsOf() come
/// behind: their iterations are elements. Must not run within a pass, since it
/// loads dialects.
mlir::OwningOpRef<mlir::ModuleOp> lowerKernels(mlir::ModuleOp module);

/// The first step for any target: a module of what `write` makes of every
/// rank.kernel of `module`, which it gets with its number, and `writeRandom` of
/// every one of randomKernelsOf(). Loads the dialects of `registry`.
mlir::OwningOpRef<mlir::ModuleOp> writeKernels(
    mlir::ModuleOp module, const mlir::DialectRegistry &registry,
    llvm::function_ref<void(mlir::OpBuilder &, rank::KernelOp, int64_t number)>
        write,
    llvm::function_ref<void(mlir::OpBuilder &, llvm::ArrayRef<mlir::Type>,
                            int64_t number)>
        writeRandom);

/// The last steps for any target: loops, arithmetic and branches become the
/// LLVM dialect's.
mlir::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_LOWERKERNELS_H
