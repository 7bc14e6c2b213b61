//===- OptionAttrs.h - options as attributes of the module ----------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONATTRS_H
#define PCC_PASSES_OPTIONS_OPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Records `options` on `module`. Sets the attributes that passes read (mesh,
/// stages, microbatches, …). Stores the text of every option that changes the
/// result in `pcc.options`, so that a dump can be resumed without repeating the
/// options. Returns exit code 2 or 6 if an option does not fit the model.
Status recordOptions(mlir::ModuleOp module, const CompileOptions &options);

/// Checks the options that can be checked without the model: axes, target,
/// cluster file, training and schedule. Returns exit code 2 if options
/// contradict each other, and 6 if a request cannot be met.
Status checkOptions(const CompileOptions &options);

/// Prepares a module that was parsed from an .mlir file:
///  - If it is a model in the graph dialect, records `options` on it.
///  - If it is a dump, checks that each option that is given again equals the
///    recorded one.
/// In both cases, --start-at must name the phase after the module's last phase.
/// Returns exit code 2 if an option does not fit, and 3 if the dump names no
/// valid phase.
Status resumeFromDump(mlir::ModuleOp module, const CompileOptions &options);

/// Changes `options` so that a compilation imports the original ONNX model of
/// `module` again, for one device. Sets the model's path, the sizes of dynamic
/// dims, the precision and the training options. Returns exit code 3 if the
/// module does not record the path of its model.
Status restoreImportOptions(mlir::ModuleOp module, CompileOptions &options);

/// Returns the last phase that the module has passed. Returns Phase::None for a
/// model in the graph dialect, which no phase has processed.
Phase phaseOf(mlir::ModuleOp module);
/// Records `phase` as the last phase that the module has passed.
void setPhase(mlir::ModuleOp module, Phase phase);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONATTRS_H
