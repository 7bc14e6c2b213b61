//===- Passes.h - passes of phase 6-schedule ------------------------------===//
//
// The phase turns the model of local shapes into functions, one per stage and
// kind of action, and writes the action table of each pipeline position (the
// stages that one rank runs). The passes are described in Passes.td, in the
// order in which they run.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_6_SCHEDULE_PASSES_H
#define PCC_PASSES_6_SCHEDULE_PASSES_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace pcc::schedule {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/6-schedule/Passes.h.inc"
} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_PASSES_H
