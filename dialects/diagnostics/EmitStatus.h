//===- EmitStatus.h - a Status as a diagnostic of MLIR --------------------===//

#ifndef PCC_DIALECTS_DIAGNOSTICS_EMITSTATUS_H
#define PCC_DIALECTS_DIAGNOSTICS_EMITSTATUS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "status/Status.h"

namespace pcc {

/// Emits an error at `op` with the message of `status`. The notes of `status`
/// become notes of that error. `status` must be an error. The exit code in
/// `status` is ignored, because the driver derives the exit code of pcc from
/// the pass that fails. The returned diagnostic converts to failure.
inline mlir::InFlightDiagnostic emitStatus(mlir::Operation *op,
                                           const Status &status) {
  mlir::InFlightDiagnostic diagnostic = op->emitError() << status.message();
  for (const std::string &note : status.notes())
    diagnostic.attachNote() << note;
  return diagnostic;
}

} // namespace pcc

#endif // PCC_DIALECTS_DIAGNOSTICS_EMITSTATUS_H
