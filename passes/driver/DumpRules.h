//===- DumpRules.h - rules that the dumps of all phases obey --------------===//

#ifndef PCC_PASSES_DRIVER_DUMPRULES_H
#define PCC_PASSES_DRIVER_DUMPRULES_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Phase.h"

namespace pcc {

/// Checks rules that concern several dialects. `passed` is the last compiler
/// phase that `module` has passed. For a model that no phase has processed,
/// `passed` is Phase::None. The rules are:
///  - If there are several microbatches, the first mesh axis is `mb`. The axis
///    `mb` divides tensors into microbatches. All other axes divide tensors
///    among ranks.
///  - There are at most 65,536 ranks.
///  - The product of the number of pipeline stages and the number of
///    microbatches is at most 2^22.
///  - Every function has a body of one block.
///  - Before phase 6-schedule, the model is the function @main. Each input and
///    each output of @main has a name.
///  - After phase 6-schedule, every function has the attribute `pipe.stage`,
///    the number of its pipeline stage.
///  - After any phase, every value is a tensor of static shape with at most
///    2^50 elements.
///
/// Emits an error at the op that breaks a rule.
mlir::LogicalResult checkDumpRules(mlir::ModuleOp module, Phase passed);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPRULES_H
