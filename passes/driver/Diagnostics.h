//===- Diagnostics.h - MLIR diagnostics as one error with notes -----------===//

#ifndef PCC_PASSES_DRIVER_DIAGNOSTICS_H
#define PCC_PASSES_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "passes/Outcome.h"

namespace pcc {

/// Collects the diagnostics of an MLIR context during its lifetime. The first
/// error is the one to show the user, with notes that name the ONNX node and
/// the source line of its location. Later errors are consequences of the first
/// and are dropped. Warnings and remarks go to the listener as notes at once.
class Diagnostics {
public:
  /// Registers a diagnostic handler with `context`. `listener` must outlive
  /// this object.
  Diagnostics(mlir::MLIRContext *context, const Listener &listener);

  /// Returns the first error, with the exit code `exitCode`. If there was no
  /// error, returns an internal error (exit code 1).
  Outcome outcome(int exitCode) const;

private:
  /// Receives one diagnostic. Always returns success, so that no other handler
  /// gets the diagnostic.
  mlir::LogicalResult take(mlir::Diagnostic &diagnostic);

  /// Receives warnings and remarks as notes.
  const Listener &listener;
  /// The first error, without an exit code. Its `error` is empty if there was
  /// none.
  Outcome first;
  /// Registration of `take` with the context. The last member, so that it is
  /// destroyed first.
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DIAGNOSTICS_H
