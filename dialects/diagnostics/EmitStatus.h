//===- EmitStatus.h - a Status as a diagnostic of MLIR --------------------===//

#ifndef PCC_DIALECTS_DIAGNOSTICS_EMITSTATUS_H
#define PCC_DIALECTS_DIAGNOSTICS_EMITSTATUS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "status/Status.h"

namespace pcc {

/// Emits an error at `op` with the message and the notes of `status`. `status`
/// must be an error. An error also contains an exit code for the process, which
/// this function does not use. Returns the diagnostic. If a caller returns the
/// diagnostic as a LogicalResult, the LogicalResult is a failure.
inline mlir::InFlightDiagnostic emitStatus(mlir::Operation *op,
                                           const Status &status) {
  mlir::InFlightDiagnostic diagnostic = op->emitError() << status.message();
  for (const std::string &note : status.notes())
    diagnostic.attachNote() << note;
  return diagnostic;
}

} // namespace pcc

#endif // PCC_DIALECTS_DIAGNOSTICS_EMITSTATUS_H
