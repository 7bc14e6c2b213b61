//===- Presets.h - layouts that the user asked for by name ----------------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_PRESETS_H
#define PCC_PASSES_4_SHARD_POLICY_PRESETS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::shard {

/// On the module: the names of --preset.
inline constexpr llvm::StringLiteral presetsName = "dist.presets";

/// Whether one of `names` was asked for.
bool hasPreset(mlir::func::FuncOp function,
               llvm::ArrayRef<llvm::StringRef> names);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_PRESETS_H
