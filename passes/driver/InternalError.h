//===- InternalError.h - errors for defects of pcc, with reproducer -------===//

#ifndef PCC_PASSES_DRIVER_INTERNALERROR_H
#define PCC_PASSES_DRIVER_INTERNALERROR_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Writes `module` with its locations to the file `path`, as a dump from which
/// `pcc` can resume. If `isOwn`, which means that pcc alone has made it, the
/// dump is sealed (DumpSeal.h). Returns exit code 7 if the file cannot be
/// written.
Status writeModule(mlir::ModuleOp module, const std::string &path, bool isOwn);

/// Returns the error (exit code 1) for a defect of pcc in `phase`; `what`
/// describes the defect in one line. Writes `before`, the module at the start
/// of the phase, to a temporary file as reproducer. If `before` is null or
/// cannot be written, the original model is the reproducer. A note of the error
/// contains the command that reproduces the defect.
Status reportInternalError(Phase phase, const std::string &what,
                           const CompileOptions &options,
                           mlir::ModuleOp before);

/// Returns the error (exit code 3) if `phase` cannot process a .mlir file that
/// pcc has not written as it is: it was edited, or written by hand. `what`
/// describes the failure in one line.
Status reportUnfitText(Phase phase, const std::string &what,
                       const CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_INTERNALERROR_H
