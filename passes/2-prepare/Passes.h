//===- Passes.h - passes of phase 2-prepare -------------------------------===//
//
// Declares the constructors, options and registration of the passes that
// Passes.td defines. Phase 2-prepare simplifies the imported graph and, for
// training, adds the loss, the backward pass and the optimizer.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_PASSES_H
#define PCC_PASSES_2_PREPARE_PASSES_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace pcc::prepare {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/2-prepare/Passes.h.inc"
} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_PASSES_H
