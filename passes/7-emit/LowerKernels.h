//===- LowerKernels.h - kernels as loops on pointers ----------------------===//

#ifndef PCC_PASSES_7_EMIT_LOWERKERNELS_H
#define PCC_PASSES_7_EMIT_LOWERKERNELS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc::emit {

/// Adds the dialects that lowerKernels writes.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// A module in the LLVM dialect with one function for every rank.kernel of
/// `module`: the n-th is called `pcc_k_<n>` and has the signature of
/// PccKernelFunction (runtime/program/ProgramImage.h), with the operands'
/// buffers first and the results' behind them. Must not run within a pass,
/// since it loads dialects.
mlir::OwningOpRef<mlir::ModuleOp> lowerKernels(mlir::ModuleOp module);

/// The last steps for any target: loops, arithmetic and branches become the
/// LLVM dialect's.
mlir::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWERKERNELS_H
