//===- EmitStatus.h - a Status as a diagnostic of MLIR --------------------===//

#ifndef PCC_DIALECTS_DIAGNOSTICS_EMITSTATUS_H
#define PCC_DIALECTS_DIAGNOSTICS_EMITSTATUS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "status/Status.h"

namespace pcc {

/// Emits an error at `op` with the message and the notes of `status`, which
/// must be an error. Ignores the exit code in `status`. The returned diagnostic
/// converts to failure.
inline mlir::InFlightDiagnostic emitStatus(mlir::Operation *op,
                                           const Status &status) {
  mlir::InFlightDiagnostic diagnostic = op->emitError() << status.message();
  for (const std::string &note : status.notes())
    diagnostic.attachNote() << note;
  return diagnostic;
}

} // namespace pcc

#endif // PCC_DIALECTS_DIAGNOSTICS_EMITSTATUS_H
