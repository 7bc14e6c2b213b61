//===- DumpRules.h - rules that the dumps of all phases obey --------------===//

#ifndef PCC_PASSES_DRIVER_DUMPRULES_H
#define PCC_PASSES_DRIVER_DUMPRULES_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Phase.h"

namespace pcc {

/// Checks these rules, and emits an error at the op that breaks one. `passed`
/// is the last compiler phase that `module` has passed:
///  - At most 65,536 ranks; at most 2^22 pipeline stages times microbatches.
///  - With several microbatches, the first mesh axis is `mb` (microbatches).
///  - Every function has a body of one block. Before phase 6-schedule, each
///    input and output of @main has a name. After it, every function has
///    `pipe.stage`.
///  - After any phase, every value is a tensor of static shape with at most
///    2^50 elements.
mlir::LogicalResult checkDumpRules(mlir::ModuleOp module, Phase passed);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPRULES_H
