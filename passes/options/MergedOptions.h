//===- MergedOptions.h - options of a dump and of the call that resumes ---===//

#ifndef PCC_PASSES_OPTIONS_MERGEDOPTIONS_H
#define PCC_PASSES_OPTIONS_MERGEDOPTIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"

namespace pcc {

/// Returns `given`, and for each option that is not given the value with which
/// `dump` was made: the mesh, the pipeline, the presets, the target and the
/// options of training. Other options stay as they are in `given`.
CompileOptions mergedOptions(mlir::ModuleOp dump, const CompileOptions &given);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_MERGEDOPTIONS_H
