//===- OptionAttrs.h - options as attributes of the module ----------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONATTRS_H
#define PCC_PASSES_OPTIONS_OPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Stores `options` in attributes of `module`. Some attributes are for phases,
/// such as the mesh. The attribute `pcc.options` has the text of each given
/// option that changes the result of the compilation, such as "--tp" = "2". A
/// dump (a module that pcc writes to a file after a phase) contains these
/// attributes, so a later call can continue without the options. Returns an
/// error with exit code 2 or 6 if an option does not fit the model.
Status recordOptions(mlir::ModuleOp module, const CompileOptions &options);

/// Prepares a module from an .mlir file. Stores `options` in a module that no
/// phase has processed. For a dump (a module after a phase), checks that
/// `options` agree with the dump. Returns an error with exit code 2 or 6 if an
/// option does not fit, and with exit code 3 if the dump has no valid phase.
Status resumeFromDump(mlir::ModuleOp module, const CompileOptions &options);

/// Changes `options` so that pcc imports the unpartitioned ONNX model from
/// which the dump `module` was made. Takes from attributes of `module`: the
/// path of the model, --dim, --shape, --dtype, --random-weights and most
/// options of training. Sets --configuration to "none", so that pcc ignores
/// annotations of the model that assign nodes and tensors to devices. Returns
/// an error with exit code 3 if `module` does not record the path of the model.
Status restoreImportOptions(mlir::ModuleOp module, CompileOptions &options);

/// Returns the last phase that the module has passed. Returns Phase::None for a
/// model in the graph dialect, which no phase has processed.
Phase phaseOf(mlir::ModuleOp module);
/// Records `phase` as the last phase that the module has passed.
void setPhase(mlir::ModuleOp module, Phase phase);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONATTRS_H
