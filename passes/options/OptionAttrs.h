//===- OptionAttrs.h - options as attributes of the module ----------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONATTRS_H
#define PCC_PASSES_OPTIONS_OPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Records `options` on `module`: as the attributes that passes read (mesh,
/// stages, microbatches, seeds, …), and all of them in `pcc.options`. A dump
/// can therefore be resumed without repeating the options. Returns exit code 2
/// or 6 if an option does not fit the model.
Status recordOptions(mlir::ModuleOp module, const CompileOptions &options);

/// Checks the options that can be checked without the model: axes, target,
/// cluster file, training and schedule. Returns exit code 2 for a contradiction
/// and 6 for a request that cannot be met.
Status checkOptions(const CompileOptions &options);

/// Checks that `options` fit a dump, or records them on a model in the graph
/// dialect. --start-at must name the phase after that of the dump. An option
/// that is given again must be equal to the recorded one. Returns exit code 2
/// if an option does not fit, and 3 if the dump names no valid phase.
Status resumeFromDump(mlir::ModuleOp module, const CompileOptions &options);

/// Changes `options` so that they import the ONNX model of `module` again, on
/// one device: sets its file, the bound dims, the precision and the training
/// options. Returns exit code 3 if the module does not name the file.
Status restoreImportOptions(mlir::ModuleOp module, CompileOptions &options);

/// Returns the last phase that the module has passed. A model in the graph
/// dialect has passed `None`.
Phase phaseOf(mlir::ModuleOp module);
/// Records `phase` as the last phase that the module has passed.
void setPhase(mlir::ModuleOp module, Phase phase);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONATTRS_H
