//===- PortCheck.h - check of stage functions against the model's ports ---===//

#ifndef PCC_PASSES_6_SCHEDULE_PORTCHECK_H
#define PCC_PASSES_6_SCHEDULE_PORTCHECK_H

#include "mlir/IR/BuiltinOps.h"

namespace pcc::schedule {

/// Checks the arguments and results of the stage functions of `module` that
/// have a name: they are inputs and outputs of the model, and their attributes
/// are those of the entry in `graph.inputs` or `graph.outputs`. A stage must
/// return each output. Emits an error and fails if a check fails.
mlir::LogicalResult checkPorts(mlir::ModuleOp module);

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_PORTCHECK_H
