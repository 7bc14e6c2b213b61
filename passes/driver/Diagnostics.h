//===- Diagnostics.h - MLIR diagnostics as one error with notes -----------===//

#ifndef PCC_PASSES_DRIVER_DIAGNOSTICS_H
#define PCC_PASSES_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "passes/Listener.h"

namespace pcc {

/// Collects the diagnostics of an MLIR context during the lifetime of this
/// object. Keeps the first error to show it to the user, with notes that name
/// the ONNX node and the source line of its location. Drops later errors,
/// because they are consequences of the first. Passes warnings and remarks to
/// the listener as notes at once.
class Diagnostics {
public:
  /// Registers a diagnostic handler with `context`. `listener` must outlive
  /// this object.
  Diagnostics(mlir::MLIRContext *context, const Listener &listener);

  /// Returns the first error, with the exit code `code`. If there was no
  /// error, returns an internal error.
  Status status(ExitCode code) const;

private:
  /// Receives one diagnostic. Always returns success, so that no other handler
  /// gets the diagnostic.
  mlir::LogicalResult take(mlir::Diagnostic &diagnostic);

  /// Receives warnings and remarks as notes.
  const Listener &listener;
  /// Message of the first error; empty if there was none.
  std::string message;
  /// Notes of the first error.
  std::vector<std::string> notes;
  /// Registration of the function `take` with the context. It must be the last
  /// member, because the last member is destroyed first.
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DIAGNOSTICS_H
