//===- KernelTable.h - kernels of a module, without duplicates ------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_KERNELTABLE_H
#define PCC_PASSES_7_EMIT_FUSE_KERNELTABLE_H

#include "dialects/rank/RankDialect.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// Kernels of a module, without duplicates. Two kernels are equal if only
/// symbol names and locations differ.
class KernelTable {
public:
  explicit KernelTable(mlir::ModuleOp module);

  /// Looks for a kernel in the module that equals the new kernel `made`. `made`
  /// must not be in the module yet. If the module has an equal kernel, erases
  /// `made` and returns the equal kernel. If the module has no equal kernel,
  /// inserts `made` into the module and returns `made`.
  rank::KernelOp intern(rank::KernelOp made);

private:
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::StringMap<rank::KernelOp> known;
};

/// Replaces kernels of `module` that differ only in scalar constants by one
/// kernel, which takes the scalars as operands. Does so for kernels that have
/// more than 128 ops together: a kernel that knows its constants is a little
/// faster, but machine code takes 2 to 5 ms for each op. Example: a model
/// multiplies 10,000 values by a scale each, and no two scales are equal.
/// Without this function, machine code for its 10,000 kernels takes minutes.
void passScalars(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_KERNELTABLE_H
