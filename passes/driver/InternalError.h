//===- InternalError.h - errors for defects of pcc, with reproducer -------===//

#ifndef PCC_PASSES_DRIVER_INTERNALERROR_H
#define PCC_PASSES_DRIVER_INTERNALERROR_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Writes the text of `module`, with the location of each op, to the file
/// `path`. `pcc` can read the file and run the remaining phases. `isOwn` is
/// false if `module` comes from a .mlir file that somebody has edited or
/// written by hand. If `isOwn` is true, the last line is a comment with a hash
/// of the text, by which pcc later finds manual edits (see sealDump()). Returns
/// exit code 7 if the file cannot be written.
Status writeModule(mlir::ModuleOp module, const std::string &path, bool isOwn);

/// Returns the error (exit code 1) for a defect of pcc in `phase`; `what`
/// describes the defect in one line. Writes `before`, the module at the start
/// of the phase, to a temporary file as reproducer. If `before` is null, the
/// original model is the reproducer.
Status reportInternalError(Phase phase, const std::string &what,
                           const CompileOptions &options,
                           mlir::ModuleOp before);

/// Returns the error (exit code 3) for a .mlir file that was edited or written
/// by hand, and that `phase` cannot process. `options.model` is the path of the
/// file. `what` describes the failure in one line. With `hasCrashed`, a note
/// asks the user to report the file.
Status reportUnfitText(Phase phase, const std::string &what,
                       const CompileOptions &options, bool hasCrashed);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_INTERNALERROR_H
