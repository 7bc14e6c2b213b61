//===- Diagnostics.h - MLIR diagnostics as one error with notes -----------===//

#ifndef PCC_PASSES_DRIVER_DIAGNOSTICS_H
#define PCC_PASSES_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "passes/Outcome.h"

namespace pcc {

/// Collects the diagnostics of a context as long as it lives. The first error
/// becomes the error for the user, with notes that name the ONNX node and the
/// source line of its location. Later errors are consequences and are dropped.
/// Warnings and remarks go to the listener as notes at once.
class Diagnostics {
public:
  /// Registers a diagnostic handler with `context`. `listener` must outlive the
  /// object.
  Diagnostics(mlir::MLIRContext *context, const Listener &listener);

  /// Returns the first error, with `exitCode`. If no error was reported,
  /// returns an internal error (exit code 1).
  Outcome outcome(int exitCode) const;

private:
  /// Handles one diagnostic. Always succeeds, so that no other handler gets it.
  mlir::LogicalResult take(mlir::Diagnostic &diagnostic);

  /// Receiver of notes.
  const Listener &listener;
  /// The first error without its exit code; `error` is empty if there is none.
  Outcome first;
  /// Registration of the handler. The last member, so that it ends first.
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DIAGNOSTICS_H
