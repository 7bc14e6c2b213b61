//===- Passes.h - declarations of the passes of phase 4-shard -------------===//

#ifndef PCC_PASSES_4_SHARD_PASSES_H
#define PCC_PASSES_4_SHARD_PASSES_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

/// Declarations of the passes of phase 4-shard, and of a function that
/// registers these passes. The build generates the declarations from the file
/// Passes.td, which also describes each pass.
namespace pcc::shard {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/4-shard/Passes.h.inc"
} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_PASSES_H
