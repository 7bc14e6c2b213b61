//===- OptionAttrs.h - options as attributes of the module ----------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONATTRS_H
#define PCC_PASSES_OPTIONS_OPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "passes/Outcome.h"

namespace pcc {

/// On the module: the phase that it has passed (i64), and every option that
/// shapes the result, as typed.
inline constexpr llvm::StringLiteral phaseName = "pcc.phase";
inline constexpr llvm::StringLiteral optionsName = "pcc.options";

/// Writes the mesh, the stages, the microbatches, the seeds and the rest where
/// the passes look for them, and all of them as `pcc.options` so that a dump
/// can be resumed without repeating them.
Outcome recordOptions(mlir::ModuleOp module, const CompileOptions &options);

/// Refuses what no model could meet, before anything is read.
Outcome checkOptions(const CompileOptions &options);

/// Takes up a dump, or a model in the graph dialect, where it stands: the
/// phases that were asked for must fit, and an option that is given again must
/// be equal to the recorded one.
Outcome resumeFromDump(mlir::ModuleOp module, const CompileOptions &options);

/// What imports the model that `module` was made of once more: its file and the
/// dims that were bound. Exit code 3 if the module does not name a file.
Outcome restoreImportOptions(mlir::ModuleOp module, CompileOptions &options);

/// The phase that the module has passed; None for a model in the graph dialect.
Phase phaseOf(mlir::ModuleOp module);
void setPhase(mlir::ModuleOp module, Phase phase);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONATTRS_H
