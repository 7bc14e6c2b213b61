//===- OptionAttrs.h - options as attributes of the module ----------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONATTRS_H
#define PCC_PASSES_OPTIONS_OPTIONATTRS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Stores `options` in attributes of `module`. There are two kinds of
/// attributes:
///
///  - Attributes that phases read, such as the mesh and the number of
///    microbatches.
///  - The attribute `pcc.options`. It contains each given option that changes
///    the result of the compilation, as text, such as "--tp" = "2".
///
/// After each phase, pcc can write the module to a file (a dump). A later call
/// of pcc can read the dump and continue with the next phase. The dump contains
/// the attributes, so the user need not give the options again.
///
/// Returns an error with exit code 2 or 6 if an option does not fit the model.
Status recordOptions(mlir::ModuleOp module, const CompileOptions &options);

/// Checks the options that can be checked before pcc reads the model: mesh
/// axes, target, cluster file, training and pipeline schedule. Returns an error
/// with one of two exit codes:
///
///  - 2 if an option is wrong or contradicts another option. For example, --tp
///    and --mesh exclude each other.
///  - 6 if the options are valid, but pcc cannot do what they request. For
///    example, the schedule does not fit the number of microbatches.
Status checkOptions(const CompileOptions &options);

/// Prepares a module that pcc has read from an .mlir file. There are two kinds
/// of files:
///
///  - A model in the graph dialect, which no phase has processed. The function
///    stores `options` in attributes of the module.
///  - A dump: the module as an earlier call of pcc has written it after a
///    phase. The dump records the options of the earlier call. The function
///    checks that each option that the user gives now has the recorded value.
///
/// The function also checks --start-at and --stop-after, if the user gives
/// them. --start-at must name the phase after the last phase that the module
/// has passed. --stop-after must not name a phase before that last phase.
///
/// Returns an error with exit code 2 or 6 if an option does not fit the module.
/// Returns an error with exit code 3 if the attributes of a dump do not name a
/// valid phase.
Status resumeFromDump(mlir::ModuleOp module, const CompileOptions &options);

/// Changes `options` so that pcc imports the unpartitioned ONNX model. `module`
/// is a dump: a module that pcc has written after a phase of an earlier
/// compilation. `pcc verify` compares the results of the dump with the results
/// of the unpartitioned model. The function takes these options of the earlier
/// compilation from attributes of `module`:
///
///  - the path of the ONNX model;
///  - the sizes of dynamic dims and the shapes of inputs (--dim and --shape);
///  - --dtype, --random-weights and most options of training.
///
/// The function also sets --configuration to "none". The ONNX model may have
/// annotations that assign its nodes and tensors to devices. With "none", pcc
/// ignores these annotations.
///
/// Returns an error with exit code 3 if `module` does not record the path of
/// the ONNX model.
Status restoreImportOptions(mlir::ModuleOp module, CompileOptions &options);

/// Returns the last phase that the module has passed. Returns Phase::None for a
/// model in the graph dialect, which no phase has processed.
Phase phaseOf(mlir::ModuleOp module);
/// Records `phase` as the last phase that the module has passed.
void setPhase(mlir::ModuleOp module, Phase phase);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONATTRS_H
