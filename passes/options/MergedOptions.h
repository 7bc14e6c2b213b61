//===- MergedOptions.h - options of a dump and of the call that resumes ---===//

#ifndef PCC_PASSES_OPTIONS_MERGEDOPTIONS_H
#define PCC_PASSES_OPTIONS_MERGEDOPTIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"

namespace pcc {

/// Returns the options for a compilation that resumes from `dump`. `given` has
/// the options that the user has given. Options of the mesh, the pipeline, the
/// presets and the training that are not given have the values with which
/// `dump` was made. The target is always the target of `dump`. All other
/// options have the values in `given`.
CompileOptions mergedOptions(mlir::ModuleOp dump, const CompileOptions &given);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_MERGEDOPTIONS_H
