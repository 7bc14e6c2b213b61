//===- Passes.h - declarations of the passes of phase 4-shard -------------===//

#ifndef PCC_PASSES_4_SHARD_PASSES_H
#define PCC_PASSES_4_SHARD_PASSES_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

/// Declares the passes of phase 4-shard and the function that registers them.
/// They are generated from Passes.td, which documents each pass.
namespace pcc::shard {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/4-shard/Passes.h.inc"
} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_PASSES_H
