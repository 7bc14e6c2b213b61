//===- DumpRules.h - rules that the dumps of all phases obey --------------===//

#ifndef PCC_PASSES_DRIVER_DUMPRULES_H
#define PCC_PASSES_DRIVER_DUMPRULES_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Phase.h"

namespace pcc {

/// Checks rules for a module from an .mlir file: the number of ranks and of
/// microbatches, mesh axes, function bodies, names of inputs and outputs, and
/// static shapes. Emits an error at the op that breaks a rule. `passed` is the
/// last phase that `module` has passed.
mlir::LogicalResult checkDumpRules(mlir::ModuleOp module, Phase passed);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPRULES_H
