//===- Diagnostics.h - MLIR's diagnostics as one error with notes ---------===//

#ifndef PCC_PASSES_DRIVER_DIAGNOSTICS_H
#define PCC_PASSES_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "passes/Outcome.h"

namespace pcc {

/// Collects what passes report while it lives: the first error becomes the
/// user's error, with the node and the source line that its location names;
/// later errors are consequences. Remarks and warnings go to the listener as
/// notes.
class Diagnostics {
public:
  Diagnostics(mlir::MLIRContext *context, const Listener &listener);

  /// The first error, with `exitCode`. If nothing was reported, a defect.
  Outcome outcome(int exitCode) const;

private:
  mlir::LogicalResult take(mlir::Diagnostic &diagnostic);

  const Listener &listener;
  Outcome first;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DIAGNOSTICS_H
