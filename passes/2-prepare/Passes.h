//===- Passes.h - passes of phase 2-prepare -------------------------------===//

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
