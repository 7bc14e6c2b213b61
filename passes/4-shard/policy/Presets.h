//===- Presets.h - sharding presets of the command line -------------------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_PRESETS_H
#define PCC_PASSES_4_SHARD_POLICY_PRESETS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::shard {

/// Returns whether the user gave one or more of the presets in `names`.
/// `function` must be in a module.
bool hasPreset(mlir::func::FuncOp function,
               llvm::ArrayRef<llvm::StringRef> names);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_PRESETS_H
