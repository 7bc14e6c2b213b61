//===- OptionAttrs.h - options as attributes of the module ----------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONATTRS_H
#define PCC_PASSES_OPTIONS_OPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Records `options` as attributes of `module`:
///  - attributes that phases read (mesh, stages, microbatches, …);
///  - `pcc.options`: the options as texts. From a dump of the module (its text
///    after a phase), a later call of pcc can then continue without the
///    options.
/// Returns exit code 2 or 6 if an option does not fit the model.
Status recordOptions(mlir::ModuleOp module, const CompileOptions &options);

/// Checks the options that can be checked without the model: axes, target,
/// cluster file, training and schedule. Returns exit code 2 if options
/// contradict each other, and 6 if a request cannot be met.
Status checkOptions(const CompileOptions &options);

/// Prepares a module that was parsed from an .mlir file, in two cases:
///  - The file is a model in the graph dialect: records `options` on the
///    module.
///  - The file is a dump (the module after a phase): checks that each option in
///    `options` has the value that the dump records.
/// If given, --start-at must name the phase after the last phase that the
/// module has passed. Returns exit code 2 or 6 if an option does not fit, and 3
/// if the dump names no valid phase.
Status resumeFromDump(mlir::ModuleOp module, const CompileOptions &options);

/// Changes `options` so that a compilation imports the ONNX model from which
/// `module` was made, for one device. Returns exit code 3 if the module does
/// not record the path of that model.
Status restoreImportOptions(mlir::ModuleOp module, CompileOptions &options);

/// Returns the last phase that the module has passed. Returns Phase::None for a
/// model in the graph dialect, which no phase has processed.
Phase phaseOf(mlir::ModuleOp module);
/// Records `phase` as the last phase that the module has passed.
void setPhase(mlir::ModuleOp module, Phase phase);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONATTRS_H
