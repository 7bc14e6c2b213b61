//===- Passes.h - declarations of the passes of phase 5-localize ----------===//
//
// In pipeline order: localize-shapes, reshard-to-collectives, group-experts,
// exchange-rows, and the gate verify-local. Passes.td documents each pass.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_5_LOCALIZE_PASSES_H
#define PCC_PASSES_5_LOCALIZE_PASSES_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace pcc::localize {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/5-localize/Passes.h.inc"
} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_PASSES_H
