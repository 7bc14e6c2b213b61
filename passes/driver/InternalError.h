//===- InternalError.h - errors for defects of pcc, with reproducer -------===//

#ifndef PCC_PASSES_DRIVER_INTERNALERROR_H
#define PCC_PASSES_DRIVER_INTERNALERROR_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Writes `module` with its locations to the file `path`, as a dump from which
/// `pcc` can resume. If `isOwn`, appends the comment that marks an unedited
/// dump (see sealDump()). Returns exit code 7 if the file cannot be written.
Status writeModule(mlir::ModuleOp module, const std::string &path, bool isOwn);

/// Returns the error (exit code 1) for a defect of pcc in `phase`; `what`
/// describes the defect in one line. Writes `before`, the module at the start
/// of the phase, to a temporary file as reproducer. If `before` is null, the
/// original model is the reproducer.
Status reportInternalError(Phase phase, const std::string &what,
                           const CompileOptions &options,
                           mlir::ModuleOp before);

/// Returns the error (exit code 3) for a .mlir file that `phase` cannot
/// process. The file was edited or written by hand. `what` describes the
/// failure in one line.
Status reportUnfitText(Phase phase, const std::string &what,
                       const CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_INTERNALERROR_H
