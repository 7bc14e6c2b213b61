//===- InternalError.h - errors for defects of pcc, with reproducer -------===//

#ifndef PCC_PASSES_DRIVER_INTERNALERROR_H
#define PCC_PASSES_DRIVER_INTERNALERROR_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "passes/Outcome.h"

namespace pcc {

/// Writes `module` with its locations to `path`, in the form of a dump, so that
/// `pcc` can resume from it. Returns exit code 7 if the file cannot be written.
Outcome writeModule(mlir::ModuleOp module, const std::string &path);

/// Returns the error (exit code 1) for a defect of pcc in `phase`. `what` is
/// the cause in one line. Writes `before`, the module at the start of the
/// phase, to a temporary file as the reproducer. If `before` is null or cannot
/// be written, the model itself is the reproducer. The note tells the command
/// that shows the error again.
Outcome reportInternalError(Phase phase, const std::string &what,
                            const CompileOptions &options,
                            mlir::ModuleOp before);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_INTERNALERROR_H
