//===- SettledOptions.h - options that a dump can no longer change --------===//

#ifndef PCC_PASSES_OPTIONS_SETTLEDOPTIONS_H
#define PCC_PASSES_OPTIONS_SETTLEDOPTIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Phase.h"
#include "status/Status.h"

namespace pcc {

/// Records a hash of each option that no phase after `passed` reads, as the
/// module attribute `pcc.settled`.
void settleOptions(mlir::ModuleOp module, Phase passed);

/// Records a hash of `pcc.options`, the options with which the module was made.
/// Must be called after each change of the attribute.
void settleRecord(mlir::ModuleOp module);

/// Returns an error with exit code 3 if the text of `pcc.options` is not the
/// one that pcc has recorded. No phase reads it, so an edit would have no
/// effect.
Status checkRecord(mlir::ModuleOp module);

/// Checks that the options of a dump which has passed `passed` are those that
/// settleOptions() has recorded. A changed option would have no effect. Emits
/// an error that names the option and the phase that read it, and fails, if
/// there is one. Accepts a dump without `pcc.settled`, as somebody writes it.
mlir::LogicalResult checkSettled(mlir::ModuleOp module, Phase passed);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_SETTLEDOPTIONS_H
