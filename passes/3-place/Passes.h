//===- Passes.h - passes of phase 3-place ---------------------------------===//
//
// Declares the constructors, options and registration of the passes that
// Passes.td defines. Phase 3-place assigns each op to a pipeline stage.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_3_PLACE_PASSES_H
#define PCC_PASSES_3_PLACE_PASSES_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace pcc::place {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/3-place/Passes.h.inc"
} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_PASSES_H
