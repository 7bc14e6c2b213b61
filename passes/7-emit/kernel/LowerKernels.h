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
/// Kernel number n becomes the function `pcc_k_<n>`. The kernels are numbered
/// from 0. The rank.kernel ops have the first numbers, in the order of
/// `module`. The kernels that fill weights with random numbers
/// (randomKernelsOf()) have the next numbers. Example: five rank.kernel ops
/// become the functions `pcc_k_0` to `pcc_k_4`, and one kernel that fills
/// weights becomes `pcc_k_5`.
///
/// Each function has the type PccKernelFunction
/// (runtime/program/ProgramImage.h). A kernel is a loop over independent
/// iterations. `begin` and `end` are parameters of the function. A call
/// executes the iterations from `begin` to `end` − 1. Several threads can
/// therefore call the function with different ranges.
///
/// A kernel with the attribute `in_parts` is an exception. The kernel applies
/// one computation to many groups of tensors. In an optimizer, a group consists
/// of a weight and its gradient. One call processes all groups. The function of
/// this kernel ignores `begin` and `end`.
///
/// lowerKernels() loads MLIR dialects. A pass must not call lowerKernels(),
/// since MLIR forbids loading a dialect while a pass runs.
mlir::OwningOpRef<mlir::ModuleOp> lowerKernels(mlir::ModuleOp module);

/// Creates a new module with the code of all kernels of `module`, and returns
/// the new module. The caller passes two functions, which emit the code of one
/// kernel:
///
///   write         emits the code of a rank.kernel op of `module`
///   writeRandom   emits the code of a kernel that fills weights with random
///                 numbers
///
/// writeKernels() calls `write` for each rank.kernel op, in the order of
/// `module`. Then writeKernels() calls `writeRandom` for each kernel that fills
/// weights. A kernel that fills weights is not an op of `module`.
/// randomKernelsOf() returns the list of these kernels.
///
/// Each of the two functions has three parameters:
///
///   1. A builder, which inserts ops at the end of the new module.
///   2. The kernel. For `write`, the parameter is the rank.kernel op. For
///      `writeRandom`, the parameter is a list of element types. Example: the
///      list [f32, bf16] describes a kernel that fills weights that the model
///      stores as f32 and casts to bf16.
///   3. The number of the kernel. The kernels are numbered from 0 in the order
///      of the calls.
///
/// Example: there are five rank.kernel ops and one kernel that fills weights.
/// writeKernels() calls `write` with the numbers 0 to 4. Then writeKernels()
/// calls `writeRandom` with the number 5.
///
/// writeKernels() loads the dialects of `registry`. A pass must not call
/// writeKernels(), since MLIR forbids loading a dialect while a pass runs.
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
